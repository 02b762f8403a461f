"""What can go wrong in a way the person can act on.

Each error carries one sentence for the person and, separately, technical detail for the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.stats import TurnStats


class EngineError(Exception):
    """A failure with one sentence that says what happened and what to do.

    Attributes:
        sentence: Shown to the person as it is; ends with a full stop.
        detail: Technical text for the log and the crash dialog, may be empty.
        stats: The figures of an answer that broke off with it, as far as it had come; None where there are none.
    """

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.detail = detail
        self.stats: TurnStats | None = None


class ModelNotFound(EngineError):
    """No model of that name or path is known."""


class BadModelFile(EngineError):
    """A file or folder is no model, is damaged, or lacks a part."""


class UnsupportedModel(EngineError):
    """The model is sound, but of an architecture or format that is not supported."""


class FetchFailed(EngineError):
    """A download did not end with a verified file."""


class DiskFull(EngineError):
    """There was no room on the disk."""


class DoesNotFit(EngineError):
    """The model or its cache needs more memory than is allowed."""


class DeviceFailed(EngineError):
    """The device that the model ran on failed; the model was moved to another one."""


class ContextFull(EngineError):
    """The prompt is longer than the context the model can hold."""


class BadRequest(EngineError):
    """The request itself cannot be answered, for example an empty prompt."""


class ServerFailed(EngineError):
    """A server that was asked for a model's answer could not be reached, refused, or broke off."""


class Cancelled(EngineError):
    """The person cancelled; silent everywhere but in the log."""

    def __init__(self, sentence: str = "Cancelled.") -> None:
        super().__init__(sentence)
