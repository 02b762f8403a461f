"""Earlier questions, called back one by one; the draft that was there waits behind the latest. Pure, no Qt."""

from __future__ import annotations

from collections.abc import Sequence


class QuestionHistory:
    """Steps through what was asked in one chat, latest first."""

    def __init__(self) -> None:
        self._questions: tuple[str, ...] = ()
        self._at = -1  # -1 is the draft
        self._draft = ""

    def set_questions(self, questions: Sequence[str]) -> None:
        """Take the questions of a chat, oldest first; one that was asked twice stands where it was asked last."""
        self._questions = tuple(dict.fromkeys(reversed(questions)))
        self.reset()

    def reset(self) -> None:
        """The field holds something new: the next step back starts from there."""
        self._at = -1

    @property
    def stepping(self) -> bool:
        """Whether an earlier question was called back."""
        return self._at >= 0

    def older(self, text: str) -> str | None:
        """The question before the one shown; None at the end.

        Args:
            text: What stands in the field, to come back when stepping is over.
        """
        if not self.stepping:
            self._draft = text
        step = self._at + 1
        while step < len(self._questions) and self._questions[step] == text:
            step += 1  # the draft may be the latest question, left in the field because it was refused
        if step >= len(self._questions):
            return None
        self._at = step
        return self._questions[step]

    def newer(self) -> str | None:
        """The question after the one shown, or the draft behind the latest; None if that is shown already."""
        if not self.stepping:
            return None
        self._at -= 1
        return self._questions[self._at] if self.stepping else self._draft
