"""What the window says, in the person's language. Every sentence that is shown passes through `translate`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QObject, QTranslator

from app.assets import ASSETS

ENGLISH: Final = "en"
CHINESE: Final = "zh_CN"
LANGUAGES: Final = (ENGLISH, CHINESE)
SYSTEM: Final = "system"

TRANSLATIONS: Final = ASSETS / "translations"
_NAME: Final = "loquatTranslator"


def translate(context: str, text: str, n: int = -1) -> str:
    """A text in the language in force, or itself where there is no translation.

    Called when the text is shown, never at import: the language can change. Both strings are literals, because
    `packaging/translations.py` reads them from the source; values come in afterwards by `str.format`.

    Args:
        context: The name of the module that says it, without its package: "composer".
        text: English. Values stand as `{name}`; a number that decides about the plural as `%Ln`,
            which writes it with the separators of the language.
        n: The number for `%Ln`; negative where there is none.
    """
    return QCoreApplication.translate(context, text, None, n)


def mark(context: str, text: str) -> str:
    """The text as it is: marks a constant as one that `translate_marked` will translate when it is shown."""
    del context  # for packaging/translations.py, which reads it from the source
    return text


def translate_marked(context: str, text: str) -> str:
    """A text that `mark` marked, in the language in force; an empty one stays empty."""
    return QCoreApplication.translate(context, text) if text else ""


def as_one_text(sentences: Iterable[str]) -> str:
    """Whole sentences after each other, empty ones left out; Chinese puts no space between them."""
    return ("" if language_in_force() == CHINESE else " ").join(filter(None, sentences))


def labelled(label: str, text: str) -> str:
    """A name and what it stands for, with the colon that the language has."""
    colon = "：" if language_in_force() == CHINESE else ": "  # noqa: RUF001 - Chinese has its own
    return f"{label}{colon}{text}"


def install(app: QCoreApplication, language: str) -> str:
    """Speak a language from now on, in place of the one before; what is on the screen stays until it is made anew.

    Qt's own words (standard dialogs, context menus) follow where its translations are installed, and dates and numbers
    follow by the default locale.

    Args:
        app: Gets the translators, and keeps them.
        language: "system", or one of LANGUAGES.

    Returns:
        The language in force, one of LANGUAGES.

    Raises:
        ValueError: No such language.
    """
    if language not in (SYSTEM, *LANGUAGES):
        raise ValueError(f"language must be one of {', '.join((SYSTEM, *LANGUAGES))}, not {language}.")
    spoken = best_language(QLocale.system().uiLanguages()) if language == SYSTEM else language
    for translator in app.findChildren(QTranslator, _NAME):
        app.removeTranslator(translator)
        translator.deleteLater()
    qt = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    for file in (qt / f"qtbase_{spoken}.qm", TRANSLATIONS / f"loquat_{spoken}.qm"):
        _add(app, file)
    QLocale.setDefault(_locale(spoken, system=language == SYSTEM))
    return spoken


def language_in_force() -> str:
    """One of LANGUAGES: what `install` chose."""
    return CHINESE if QLocale().language() == QLocale.Language.Chinese else ENGLISH


def best_language(wanted: Sequence[str]) -> str:
    """The first of the person's languages that Loquat speaks; Simplified Chinese stands for every Chinese."""
    for name in wanted:
        prefix = name.replace("_", "-").partition("-")[0].lower()
        if prefix in ("en", "zh"):
            return CHINESE if prefix == "zh" else ENGLISH
    return ENGLISH


def _add(app: QObject, file: Path) -> None:
    translator = QTranslator(app)
    translator.setObjectName(_NAME)
    if translator.load(str(file)):
        QCoreApplication.installTranslator(translator)
    else:
        translator.deleteLater()  # Qt's own are not in every wheel; without them its few words stay English


def _locale(spoken: str, system: bool) -> QLocale:
    """The system's locale where it speaks the language, because it knows the person's formats."""
    locale = QLocale.system()
    chosen = QLocale(spoken)
    return locale if system and locale.language() == chosen.language() else chosen
