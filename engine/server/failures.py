"""Every refusal as OpenAI's error object: a status, one sentence, and words that programs know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from engine.errors import BadRequest, Cancelled, ContextFull, DoesNotFit, EngineError, ModelNotFound
from engine.events import Failed
from engine.server.schema import MAX_CHOICES, MAX_STOPS

_BUSY_S: Final = 2
_TELLING: Final = {"value_error": 0, "extra_forbidden": 1}  # before what another branch of a union says
_REASONS: Final = {
    "extra_forbidden": "it is not supported here; leave it out",
    "missing": "it is missing",
    "json_invalid": "{error}",
    "union_tag_invalid": "{discriminator} is {tag}, but should be one of {expected_tags}",
    "union_tag_not_found": "{discriminator} is missing",
    "too_short": "it should have at least {min_length} entries, not {actual_length}",
    "too_long": "it should have at most {max_length} entries",
    "model_attributes_type": "it should be a JSON object",
    "dict_type": "it should be a JSON object",
    "list_type": "it should be a list",
    "string_type": "it should be a text",
    "int_type": "it should be a whole number",
    "float_type": "it should be a number",
    "bool_type": "it should be true or false",
    "string_too_short": "it must not be empty",
    "string_pattern_mismatch": "it may hold letters, digits, _ and - only",
    "literal_error": "only {expected} is supported here",
    "none_required": "only null is supported here",
}
_JSON_WORDS: Final = {"False": "false", "True": "true", "None": "null"}
# Fields of several kinds, of which each fault would name one.
_MAY_BE: Final = {
    "stop": f"it may be a text or a list of up to {MAX_STOPS} texts, none of them empty",
    "content": "it may be a text or a list of text parts",
    "prompt": f"it may be a text, a list of token ids, or a list of up to {MAX_CHOICES} of either, none empty",
    "logit_bias": "it may be an object of token ids, each with a number from -100 to 100",
}
_BRANCHES: Final = {
    "str",
    "int",
    "constrained-str",
    "constrained-int",
    "system",
    "developer",
    "user",
    "assistant",
    "tool",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """One refusal.

    Attributes:
        status: HTTP's.
        sentence: For people.
        type: OpenAI's word for the kind.
        code: OpenAI's word for the case, if there is one.
        param: The field at fault, if it is one.
        headers: To send with it.
    """

    status: int
    sentence: str
    type: str = "invalid_request_error"
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """The error object."""
        about = {"message": self.sentence, "type": self.type, "param": self.param, "code": self.code}
        return {"error": about}


class Refused(Exception):
    """A request ends with a failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.sentence)
        self.failure = failure


def of_event(failed: Failed) -> Failure:
    """What a client is told of an error in the engine."""
    return _server("Something went wrong inside Loquat; see its log.", 500) if failed.bug else of_error(failed.error)


def of_error(error: EngineError) -> Failure:
    """What a client is told of an error that the engine has a sentence for."""
    if isinstance(error, BadRequest):
        return Failure(400, error.sentence)
    if isinstance(error, ContextFull):
        return Failure(400, error.sentence, code="context_length_exceeded", param="messages")
    if isinstance(error, Cancelled):
        return interrupted()
    if isinstance(error, DoesNotFit | ModelNotFound):
        return _server(error.sentence, 503, {"Retry-After": str(_BUSY_S)})
    return _server(error.sentence, 500)


def interrupted() -> Failure:
    """The engine gave the request up: another model is being loaded, or the server ends."""
    return _server("The model was changed or the server ended before the reply was complete; ask again.", 503)


def no_model() -> Failure:
    """There is nobody who could answer."""
    return _server("No model is loaded yet; try again in a moment.", 503, {"Retry-After": str(_BUSY_S)})


def not_here(server: str) -> Failure:
    """The person chats with a model elsewhere; what programs here ask is not sent on to it."""
    return _server(f"A model on {server} is chosen in Loquat; choose one on this machine to serve it.", 503)


def _server(sentence: str, status: int, headers: Mapping[str, str] | None = None) -> Failure:
    return Failure(status, sentence, "server_error", headers=headers or {})


def unknown_model(asked: str, name: str) -> Failure:
    """The client names a model that is not the one that is loaded."""
    sentence = f"The model {asked[:80]} is not served here; ask for {name}."
    return Failure(404, sentence, code="model_not_found", param="model")


def too_many(limit: int, seconds: int) -> Failure:
    """The queue is full."""
    sentence = f"There are {limit} requests already; try again in {seconds} seconds."
    return Failure(429, sentence, "rate_limit_error", "rate_limit_exceeded", headers={"Retry-After": str(seconds)})


def of_validation(errors: Sequence[Mapping[str, Any]]) -> Failure:
    """What is wrong with a body, in one sentence: the fault that says most."""
    first = min(errors, key=lambda error: _TELLING.get(error["type"], len(_TELLING)))
    path, code = _path(first["loc"]), None
    reason = _reason(first, path)
    reason = reason.removeprefix("Value error, ").replace("Input should", "it should").rstrip(".")
    if first["type"] == "json_invalid":
        path, reason = "", f"it is no JSON: {reason} at character {first['loc'][-1]}"
    elif first["type"] == "extra_forbidden":
        code = "unsupported_parameter"
    return Failure(400, f"{path or 'The body'} cannot be used: {reason}.", code=code, param=path or None)


def _reason(error: Mapping[str, Any], path: str) -> str:
    steps = path.split(".")
    may_be = _MAY_BE.get(steps[0]) or next((_MAY_BE[step] for step in steps if step in _MAY_BE), None)
    if may_be is not None and error["type"] not in ("value_error", "missing", "extra_forbidden"):
        return may_be
    about = {key: _JSON_WORDS.get(str(value), value) for key, value in error.get("ctx", {}).items()}
    return _REASONS.get(error["type"], "{msg}").format(msg=error["msg"], **about)


def _path(loc: Sequence[str | int]) -> str:
    """Where in the body a fault lies, without the names that pydantic gives to branches of unions."""
    top, *deeper = [str(step) for step in loc if step != "body"] or [""]
    named = (step for step in deeper if step not in _BRANCHES and not set(step) & set("[("))
    return ".".join([top, *named])
