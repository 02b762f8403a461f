"""The files that go with the question being written: read in the background, shown as chips, taken off again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.attachments import (
    MAX_FILES,
    MODEL_SUFFIX,
    AdapterFolder,
    AttachmentReader,
    ModelFolder,
    Outcome,
    Refused,
    pasted,
)
from app.i18n import translate
from app.live import DraftCost
from app.records import Attachment
from app.theme import Theme
from app.views.attachment_chip import AttachmentChip, AttachmentRow


class AttachedFiles(QWidget):
    """Keeps the chips and what they stand for. Hidden while there are none."""

    changed = Signal()
    chip_added = Signal(object)  # AttachmentChip
    refused = Signal(str)  # one sentence
    model_found = Signal(object)  # Path
    adapter_found = Signal(object)  # Path
    text_wanted = Signal(str)  # a pasted text that is to be written into the field instead
    left = Signal()  # the chip that had the keyboard is gone, and there is no other

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._row = AttachmentRow(theme, self)
        self._reader = AttachmentReader(self)
        self._reader.done.connect(self._read)
        self._reading: dict[int, AttachmentChip] = {}
        self._pasted: tuple[AttachmentChip, int] | None = None  # the latest paste, and the text's revision then
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._row)
        self.hide()

    @property
    def chips(self) -> tuple[AttachmentChip, ...]:
        """In the order in which they came."""
        return self._row.chips

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """Those that have been read."""
        return self._row.attachments

    @property
    def reading(self) -> str:
        """The name of a file that is still being read; empty if there is none."""
        return self._row.reading

    def set_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Show these in place of those that are there."""
        for chip in self.chips:
            self._drop(chip)
        for attachment in attachments:
            self._add(attachment.name).show_attachment(attachment)
        self._fit()

    def attach(self, paths: Sequence[Path]) -> None:
        """Begin to read files; a model file is told instead."""
        for path in paths:
            if path.suffix.lower() == MODEL_SUFFIX:
                self.model_found.emit(path)
            elif len(self.chips) >= MAX_FILES:
                sentence = translate("attached_files", "At most {count} files can go with one question.")
                self.refused.emit(sentence.format(count=MAX_FILES))
                break
            else:
                self._reading[self._reader.start(path)] = self._add(path.name)
        self._fit()
        self.changed.emit()

    def add_pasted(self, text: str, as_text: bool, revision: int) -> None:
        """Show a long text from the clipboard as a file.

        Args:
            text: What is to be pasted.
            as_text: Whether it may be written into the field instead.
            revision: Of the field's text; as long as that stays, Undo takes the paste back.
        """
        outcome = pasted(text)
        if not isinstance(outcome, Attachment):
            self._refuse(outcome)
            return
        chip = self._add(outcome.name, as_text)
        chip.show_attachment(outcome)
        self._announce(chip)
        self._pasted = (chip, revision)
        self._fit()
        self.changed.emit()

    def holds_paste(self, revision: int) -> bool:
        """Whether the latest paste can be undone: nothing was written since."""
        return self._pasted is not None and self._pasted[1] == revision

    def undo_paste(self, revision: int) -> bool:
        """Take the latest paste off, if nothing was written since; whether there was one."""
        if self._pasted is None or not self.holds_paste(revision):
            return False
        self._remove(self._pasted[0])
        return True

    def show_cost(self, cost: DraftCost | None, written: int) -> None:
        """Say on each chip what it costs: its share of the draft's tokens, by characters.

        A share that was counted stays while the question beside it is written: the file has no other tokens then.

        Args:
            cost: Of the draft; None where it is not known.
            written: Characters of the question itself.
        """
        lengths = [len(attachment.text) for attachment in self.attachments]
        total = sum(lengths) + written
        per_token = _seconds_per_token(cost)
        for chip in self.chips:
            if cost is None or chip.attachment is None or not total:
                chip.counted = None
                chip.show_cost(None, None)
                continue
            tokens = chip.counted or max(1, round(cost.draft_tokens * len(chip.attachment.text) / total))
            chip.counted = tokens if chip.counted or (cost.characters == total and not cost.about) else None
            chip.show_cost(tokens, None if per_token is None else tokens * per_token)
        self._row.arrange()

    def _add(self, name: str, as_text: bool = False) -> AttachmentChip:
        chip = self._row.add(name, as_text)
        chip.removed.connect(partial(self._remove, chip))
        chip.text_wanted.connect(partial(self._write, chip))
        self.chip_added.emit(chip)
        return chip

    def _remove(self, chip: AttachmentChip) -> None:
        """Take a chip off as the person asked."""
        focused = QApplication.focusWidget()
        had_focus = focused is not None and (focused is chip or chip.isAncestorOf(focused))
        self._drop(chip)
        self._fit()
        if had_focus and self.chips:
            self.chips[-1].setFocus(Qt.FocusReason.OtherFocusReason)
        elif had_focus:
            self.left.emit()
        self.changed.emit()

    def _drop(self, chip: AttachmentChip) -> None:
        for number in [number for number, other in self._reading.items() if other is chip]:
            self._reader.cancel(number)
            del self._reading[number]
        if self._pasted is not None and self._pasted[0] is chip:
            self._pasted = None
        self._row.remove(chip)

    def _write(self, chip: AttachmentChip) -> None:
        text = chip.attachment.text if chip.attachment is not None else ""
        self._remove(chip)
        self.text_wanted.emit(text)

    def _read(self, number: int, outcome: Outcome) -> None:
        chip = self._reading.pop(number)
        if isinstance(outcome, Attachment):
            chip.show_attachment(outcome)
            self._row.arrange()
            self._announce(chip)
        else:
            self._drop(chip)
            self._refuse(outcome)
        self._fit()
        self.changed.emit()

    def _refuse(self, outcome: Refused | ModelFolder | AdapterFolder) -> None:
        if isinstance(outcome, ModelFolder):
            self.model_found.emit(outcome.path)
        elif isinstance(outcome, AdapterFolder):
            self.adapter_found.emit(outcome.path)
        else:
            self.refused.emit(outcome.sentence)

    def _announce(self, chip: AttachmentChip) -> None:
        """Say to a screen reader, whose focus is in the field, what was attached."""
        said = translate("attached_files", "Attached: {name}, {details}").format(name=chip.name, details=chip.details)
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, said))

    def _fit(self) -> None:
        self.setVisible(bool(self.chips))


def _seconds_per_token(cost: DraftCost | None) -> float | None:
    """What one new token takes to read, where that is known."""
    if cost is None or cost.seconds is None or cost.prompt_tokens <= cost.cached_tokens:
        return None
    return cost.seconds / (cost.prompt_tokens - cost.cached_tokens)
