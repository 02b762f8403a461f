"""What the window says, in the person's language. Every sentence that is shown passes through `translate`."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication


def translate(context: str, text: str, n: int = -1) -> str:
    """A text in the language in force, or itself where there is no translation.

    Called when the text is shown, never at import: the language can change. Both strings are literals, because
    `lupdate` reads them from the source; values come in afterwards by `str.format`.

    Args:
        context: The name of the module that says it, without its package: "composer".
        text: English. Values stand as `{name}`; a number that decides about the plural as `%n`.
        n: The number for `%n`; negative where there is none.
    """
    return QCoreApplication.translate(context, text, None, n)
