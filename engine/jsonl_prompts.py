"""A file of prompts, one JSON object a line, as requests; a line that is none is told by its number."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, get_args

from engine.chat import ChatRequest, Message, Role
from engine.config import SamplingParams
from engine.errors import BadRequest, EngineError, ModelNotFound

# What "sampling" of a line may set; the rest of SamplingParams is not for files.
SAMPLING: Final = (
    "temperature", "top_k", "top_p", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty", "seed",
    "stop", "max_tokens",
)  # fmt: skip
_LONGEST: Final = 64 << 20  # bytes of a line


class LineError(EngineError):
    """A line cannot be answered."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the file.

    Attributes:
        number: From 1.
        key: Names its bytes and all that changes its answer; equal lines have equal keys.
        id: Its own id, or its number.
        request: None where the line is malformed.
        error: Why; empty if it is not.
    """

    number: int
    key: str
    id: str | int
    request: ChatRequest | None
    error: str = ""


def read_lines(path: Path, params: SamplingParams, about: str) -> Iterator[Line]:
    """All lines but blank ones, in order.

    Args:
        path: UTF-8, with or without a byte order mark.
        params: What holds where a line says nothing else.
        about: Whatever else changes the answers: the model's name.

    Raises:
        ModelNotFound: There is no such file.
        BadRequest: It cannot be read.
    """
    salt = hashlib.sha256(repr((about, params)).encode()).digest()
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(iter(lambda: file.readline(_LONGEST), b""), 1):
                text = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
                if text.strip():
                    yield _line(number, text.strip(), hashlib.sha256(salt + text.strip()).hexdigest()[:16], params)
    except FileNotFoundError as error:
        raise ModelNotFound(f"There is no file {path}.") from error
    except OSError as error:
        raise BadRequest(f"The file {path} cannot be read: {error.strerror}.", repr(error)) from error


def _line(number: int, raw: bytes, key: str, params: SamplingParams) -> Line:
    try:
        data = _object(raw)
        chosen = data.get("id", number)
        if not isinstance(chosen, str | int) or isinstance(chosen, bool):
            raise LineError("its id is neither a text nor a whole number.")
    except LineError as error:
        return Line(number, key, number, None, f"Line {number} is skipped: {error.sentence}")
    try:
        messages, sampling = _messages(data), _sampling(data, params)
    except LineError as error:
        return Line(number, key, chosen, None, f"Line {number} is skipped: {error.sentence}")
    return Line(number, key, chosen, ChatRequest(f"line-{number}", messages, sampling, overflow="stop"))


def _object(raw: bytes) -> Mapping[str, Any]:
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise LineError("it is no JSON.") from error
    if not isinstance(data, dict):
        raise LineError("it is no JSON object.")
    return data


def _messages(data: Mapping[str, Any]) -> tuple[Message, ...]:
    if ("prompt" in data) == ("messages" in data):
        raise LineError('it needs either a "prompt" or "messages".')
    if "prompt" in data:
        return (Message("user", _text(data["prompt"], "prompt")),)
    listed = data["messages"]
    if not isinstance(listed, list) or not listed:
        raise LineError('its "messages" are no list of messages.')
    messages = tuple(_message(entry) for entry in listed)
    if messages[-1].role != "user":
        raise LineError("its last message is not the user's.")
    return messages


def _message(entry: object) -> Message:
    if not isinstance(entry, dict) or entry.get("role") not in get_args(Role) or entry["role"] == "tool":
        raise LineError('a message needs a "role", which is system, user or assistant, and a "content".')
    return Message(entry["role"], _text(entry.get("content"), "content"))


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise LineError(f'its "{name}" is no text, or empty.')
    return value.encode("utf-8", "replace").decode()  # JSON can name half a character, which no tokenizer takes


def _sampling(data: Mapping[str, Any], params: SamplingParams) -> SamplingParams:
    given = data.get("sampling", {})
    if not isinstance(given, dict):
        raise LineError('its "sampling" is no object.')
    unknown = sorted(set(given) - set(SAMPLING))
    if unknown:
        raise LineError(f'its "sampling" has {unknown[0]}; there are {", ".join(SAMPLING)}.')
    values: dict[str, Any] = {name: _value(name, value) for name, value in given.items()}
    try:
        return replace(params, **values)
    except (ValueError, TypeError) as error:
        raise LineError(str(error)) from error


def _value(name: str, value: object) -> object:
    if name == "stop":
        stops = [value] if isinstance(value, str) else value
        if isinstance(stops, list) and all(isinstance(stop, str) for stop in stops):
            return tuple(stops)
        raise LineError("its stop is neither a text nor a list of texts.")
    whole = name in ("top_k", "seed", "max_tokens")
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise LineError(f"its {name} is no {'whole ' if whole else ''}number.")
    return value
