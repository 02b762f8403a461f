"""Calls of tools, as models write them: found in a reply while it is being written, and read as name and arguments.

Three ways of writing are known, each told by the model's own chat template: Hermes' (Qwen's, SmolLM3's and others'),
Llama 3's and Mistral's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final


class ToolStyle(StrEnum):
    """How a model writes that it calls a tool."""

    HERMES = "hermes"  # <tool_call>{"name": ..., "arguments": {...}}</tool_call>
    LLAMA = "llama"  # {"name": ..., "parameters": {...}}, perhaps after <|python_tag|>, several split by ";"
    MISTRAL = "mistral"  # [TOOL_CALLS][{"name": ..., "arguments": {...}}], or [TOOL_CALLS]name[ARGS]{...}


_OPENERS: Final = {
    ToolStyle.HERMES: "<tool_call>",
    ToolStyle.LLAMA: "<|python_tag|>",
    ToolStyle.MISTRAL: "[TOOL_CALLS]",
}
_HERMES_CALL: Final = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)
_MISTRAL_CALL: Final = re.compile(r"\s*([\w.-]+)(?:\[CALL_ID\][\w-]*)?(?:\[ARGS\])?\s*(?=\{)")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call.

    Attributes:
        name: Of the function.
        arguments: A JSON object as text.
    """

    name: str
    arguments: str


def tool_style(template: str) -> ToolStyle | None:
    """How a model with this chat template writes calls; None if it knows no tools, or writes them in another way."""
    if not re.search(r"\btools\b", template):
        return None
    if _OPENERS[ToolStyle.MISTRAL] in template:
        return ToolStyle.MISTRAL
    if _OPENERS[ToolStyle.HERMES] in template:
        return ToolStyle.HERMES
    written_out = re.search(r"""["']?name["']?\s*:.*["']?parameters["']?\s*:""", template, re.DOTALL)
    return ToolStyle.LLAMA if _OPENERS[ToolStyle.LLAMA] in template or written_out else None


class CallReader:
    """Parts a reply, while it is being written, into text and calls.

    Args:
        style: How the model writes calls.
        names: Functions that can be called; a call of another one stays text.
    """

    def __init__(self, style: ToolStyle, names: Collection[str]) -> None:
        self._style = style
        self._names = names
        self._held = ""
        self._began = False  # text of the reply was shown
        self._calling = False

    def push(self, text: str) -> str:
        """What of the text so far is surely no call and was not returned yet."""
        self._held += text
        if self._calling:
            return ""
        start = self._opening()
        self._calling = start is not None
        shown = len(self._held) - self._possible_opening() if start is None else start
        text, self._held = self._held[:shown], self._held[shown:]
        self._began = self._began or bool(text.strip())
        return text

    def finish(self) -> tuple[str, tuple[ToolCall, ...]]:
        """The rest of the text, and the calls; what could be one and cannot be read is text."""
        if not self._calling:
            return self._held, ()
        try:
            rest, found = _READERS[self._style](self._held)
            calls = tuple(_call(entry) for entry in found)
        except (ValueError, TypeError, KeyError, RecursionError):
            return self._held, ()
        known = bool(calls) and all(call.name in self._names for call in calls)
        return (rest, calls) if known else (self._held, ())

    def _opening(self) -> int | None:
        """Where a call begins in what is held."""
        at = self._held.find(_OPENERS[self._style])
        if at >= 0:
            return at
        bare = self._style is ToolStyle.LLAMA and not self._began and self._held.lstrip().startswith("{")
        return 0 if bare else None

    def _possible_opening(self) -> int:
        """How many of the last characters could be the beginning of a call."""
        if self._style is ToolStyle.LLAMA and not self._began and not self._held.strip():
            return len(self._held)
        opener = _OPENERS[self._style]
        longest = min(len(self._held), len(opener) - 1)
        return next((n for n in range(longest, 0, -1) if opener.startswith(self._held[-n:])), 0)


def _call(entry: Any) -> ToolCall:  # noqa: ANN401 - whatever JSON the model wrote
    """A call from its JSON.

    Raises:
        ValueError, TypeError, KeyError: It is none.
    """
    if not isinstance(entry, dict):
        raise TypeError("a call is an object")
    arguments = entry["arguments"] if "arguments" in entry else entry.get("parameters", {})
    if isinstance(arguments, str):
        arguments = json.loads(arguments)
    if not isinstance(arguments, dict) or not isinstance(entry["name"], str):
        raise TypeError("a call has a name, and its arguments are an object")
    return ToolCall(entry["name"], json.dumps(arguments, ensure_ascii=False))


def _hermes(text: str) -> tuple[str, list[Any]]:
    return _HERMES_CALL.sub("", text).strip(), [json.loads(body) for body in _HERMES_CALL.findall(text)]


def _llama(text: str) -> tuple[str, list[Any]]:
    return "", list(_objects(text.replace(_OPENERS[ToolStyle.LLAMA], " ")))


def _objects(text: str) -> Iterator[Any]:
    """JSON values one after the other, with semicolons or white space between them."""
    decoder = json.JSONDecoder()
    while text := text.strip("; \n\t"):
        value, end = decoder.raw_decode(text)
        yield value
        text = text[end:]


def _mistral(text: str) -> tuple[str, list[Any]]:
    found: list[Any] = []
    for part in text.split(_OPENERS[ToolStyle.MISTRAL])[1:]:
        named = _MISTRAL_CALL.match(part)
        if named:
            found.append({"name": named[1], "arguments": json.loads(part[named.end() :])})
        else:
            found += json.loads(part)
    return "", found


_READERS: Final = {ToolStyle.HERMES: _hermes, ToolStyle.LLAMA: _llama, ToolStyle.MISTRAL: _mistral}
