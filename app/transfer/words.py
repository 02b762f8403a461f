"""What came of an export or an import, in one or two sentences. Pure but for the language in force."""

from __future__ import annotations

from app.i18n import as_one_text, translate
from app.transfer.result import TransferResult


def import_sentence(result: TransferResult) -> str:
    """What to tell the person about an import that has ended."""
    if result.cancelled:
        return translate("transfer", "The import was cancelled. Nothing was added.")
    if result.problem:
        return result.problem
    parts = [translate("transfer", "%Ln chats imported.", result.count)]
    if result.already_here:
        parts.append(translate("transfer", "%Ln already here.", result.already_here))
    if result.skipped_count:
        parts.append(translate("transfer", "%Ln could not be read.", result.skipped_count))
    return as_one_text(parts)


def export_sentence(result: TransferResult) -> str:
    """What to tell the person about an export that has ended."""
    if result.cancelled:
        return translate("transfer", "The export was cancelled.")
    if result.problem:
        return result.problem
    done = translate("transfer", "%Ln chats exported to {file}.", result.count)
    return done.format(file=result.path.name)
