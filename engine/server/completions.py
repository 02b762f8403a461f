"""One HTTP request for completions on its way: its choices, one after the other, as pieces and as whole answers.

The choices of a request are asked of the engine one by one, each behind what others wait for: a request for many
choices does not hold up a request for one.
"""

from __future__ import annotations

import contextlib
import datetime
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from engine.chat import ChatRequest, Message
from engine.config import MAX_SEED, SamplingParams
from engine.events import Finished, FinishReason, ModelInfo, TextDelta, TokenLogprob
from engine.server.answers import (
    Frame,
    Usage,
    call_id,
    calls_object,
    chat_frame,
    chat_logprobs,
    text_frame,
    text_logprobs,
)
from engine.server.asked import as_extra, as_json, called, chat_params, messages_of, prompts_of, text_params, tools_of
from engine.server.history import Place
from engine.server.schema import ChatBody, Sampling, TextBody
from engine.server.service import Service
from engine.stats import TurnStats
from engine.tools import CallReader, ToolCall, ToolStyle


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text of one choice, and how likely its token was."""

    index: int
    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class End:
    """A choice is complete.

    Attributes:
        first: It is the first of its prompt.
        calls: With their ids.
    """

    index: int
    reason: str
    stats: TurnStats
    first: bool
    calls: tuple[tuple[str, ToolCall], ...] = ()


Part: TypeAlias = Piece | End


class Completion(ABC):
    """What chat and text completions share: a frame, parts, and how parts become objects.

    Args:
        service: Who answers.
        body: What is asked.
        info: The model.
        frame: Of the answer.

    Raises:
        Refused: There is text in the body that is none.
    """

    def __init__(self, service: Service, body: Sampling, info: ModelInfo, frame: Frame) -> None:
        as_json(body.model_dump(exclude_none=True))
        self._service = service
        self._n = body.n or 1
        self._usage_in_stream = bool(body.stream_options and body.stream_options.include_usage)
        self._info = info
        self._frame = frame

    @abstractmethod
    def parts(self) -> AsyncGenerator[Part, None]:
        """The parts of all choices, choice by choice."""
        ...

    @abstractmethod
    def opening(self, index: int) -> dict[str, Any] | None:
        """The choice of a chunk that goes before a choice's first piece, if there is one."""
        ...

    @abstractmethod
    def piece(self, piece: Piece, offset: int) -> dict[str, Any]:
        """The choice of a chunk with some text, of which `offset` characters came before."""
        ...

    @abstractmethod
    def ends(self, end: End) -> Iterator[dict[str, Any]]:
        """The choices of the last chunks."""
        ...

    @abstractmethod
    def choice(self, text: str, logprobs: tuple[TokenLogprob, ...], end: End) -> dict[str, Any]:
        """A whole choice."""
        ...

    async def whole(self) -> dict[str, Any]:
        """The answer in one object.

        Raises:
            Refused: It cannot be had.
        """
        usage, choices, pieces = Usage(), [], list[Piece]()
        async with contextlib.aclosing(self._admitted()) as parts:
            async for part in parts:
                if isinstance(part, Piece):
                    pieces.append(part)
                    continue
                usage.add(part.stats, part.first)
                logprobs = tuple(token for piece in pieces for token in piece.logprobs)
                choices.append(self.choice("".join(piece.text for piece in pieces), logprobs, part))
                pieces.clear()
        return self._frame.object(choices, usage=usage.object())

    async def chunks(self) -> AsyncGenerator[dict[str, Any], None]:
        """The answer as the chunks of a stream; the first comes only when the engine has taken the request.

        Raises:
            Refused: It cannot be had.
        """
        usage, offset, opened = Usage(), 0, -1
        more = {"usage": None} if self._usage_in_stream else {}
        async with contextlib.aclosing(self._admitted()) as parts:
            async for part in parts:
                choices: list[dict[str, Any]] = []
                if part.index != opened:
                    offset, opened = 0, part.index
                    choices += [choice for choice in [self.opening(part.index)] if choice]
                if isinstance(part, End):
                    usage.add(part.stats, part.first)
                    choices += self.ends(part)
                elif part.text or part.logprobs:
                    choices.append(self.piece(part, offset))
                    offset += len(part.text)
                for choice in choices:
                    yield self._frame.object([choice], chunk=True, **more)
        if self._usage_in_stream:
            yield self._frame.object([], chunk=True, usage=usage.object())

    async def _admitted(self) -> AsyncGenerator[Part, None]:
        with self._service.admitted():
            async with contextlib.aclosing(self.parts()) as parts:
                async for part in parts:
                    yield part
        self._service.forget_outdated()


class ChatCompletion(Completion):
    """A chat completion.

    Raises:
        Refused: The request cannot be answered by this model.
    """

    def __init__(self, service: Service, body: ChatBody) -> None:
        info = service.model_named(body.model)
        super().__init__(service, body, info, chat_frame(info))
        self._params = chat_params(body)
        self._tools = tools_of(body, info)
        self._names = {tool.function.name for tool in body.tools or ()}
        self._one_call = body.parallel_tool_calls is False
        self._messages = messages_of(body, info)

    async def parts(self) -> AsyncGenerator[Part, None]:
        """The parts of all choices."""
        for index in range(self._n):
            place = self._service.history.place(self._messages, self._tools)
            request = ChatRequest(
                f"{self._frame.id}-{index}",
                place.messages,
                seeded(self._params, index),
                place.conversation_id,
                datetime.date.today().isoformat(),
                overflow="stop",
                tools=self._tools,
            )
            async with contextlib.aclosing(self._one(request, index, place)) as parts:
                async for part in parts:
                    yield part

    async def _one(self, request: ChatRequest, index: int, place: Place) -> AsyncGenerator[Part, None]:
        style = self._info.tool_style if self._tools else None
        reader = CallReader(style, self._names) if style else None
        shown: list[str] = []
        async with contextlib.aclosing(self._service.events(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    text = reader.push(event.text) if reader else event.text
                    shown.append(text)
                    yield Piece(index, text, (event.logprob,) if event.logprob else ())
                elif isinstance(event, Finished):
                    rest, calls = self._calls(reader)
                    shown.append(rest)
                    if rest:
                        yield Piece(index, rest)
                    self._remember(place, event, "".join(shown), calls)
                    reason = "tool_calls" if calls else finish_reason(event)
                    yield End(index, reason, event.stats, index == 0, calls)

    def _calls(self, reader: CallReader | None) -> tuple[str, tuple[tuple[str, ToolCall], ...]]:
        rest, calls = reader.finish() if reader else ("", ())
        return rest, tuple((call_id(), call) for call in (calls[:1] if self._one_call else calls))

    def _remember(self, place: Place, event: Finished, text: str, calls: tuple[tuple[str, ToolCall], ...]) -> None:
        """Keep the ids of a reply whose text the client has in full, and whose calls may stand as they were written."""
        rendered_anew = self._one_call or self._info.tool_style is ToolStyle.MISTRAL
        if event.reason is FinishReason.STOP or (calls and rendered_anew):
            return
        made = [called(call.name, call.arguments, name) for name, call in calls]
        extra = as_extra({"tool_calls": made} if made else {})
        self._service.history.answered(place, Message("assistant", text, event.token_ids, extra))

    def opening(self, index: int) -> dict[str, Any] | None:
        """The role goes first."""
        return _delta(index, {"role": "assistant", "content": ""})

    def piece(self, piece: Piece, offset: int) -> dict[str, Any]:
        """Some text."""
        return _delta(piece.index, {"content": piece.text}, chat_logprobs(piece.logprobs) if piece.logprobs else None)

    def ends(self, end: End) -> Iterator[dict[str, Any]]:
        """The calls, then the reason."""
        if end.calls:
            numbered = [{"index": n, **call} for n, call in enumerate(calls_object(end.calls))]
            yield _delta(end.index, {"tool_calls": numbered})
        yield {**_delta(end.index, {}), "finish_reason": end.reason}

    def choice(self, text: str, logprobs: tuple[TokenLogprob, ...], end: End) -> dict[str, Any]:
        """A whole message."""
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        if end.calls:
            message |= {"content": text.strip() or None, "tool_calls": calls_object(end.calls)}
        told = chat_logprobs(logprobs) if self._params.logprobs is not None else None
        return {"index": end.index, "message": message, "logprobs": told, "finish_reason": end.reason}


class TextCompletion(Completion):
    """A completion of raw prompts, to which no chat template is applied.

    Raises:
        Refused: The request cannot be answered by this model.
    """

    def __init__(self, service: Service, body: TextBody) -> None:
        info = service.model_named(body.model)
        super().__init__(service, body, info, text_frame(info))
        self._params = text_params(body)
        self._prompts = prompts_of(body, info)

    async def parts(self) -> AsyncGenerator[Part, None]:
        """The parts of all choices, prompt by prompt."""
        for index in range(self._n * len(self._prompts)):
            request = ChatRequest(
                f"{self._frame.id}-{index}",
                (),
                seeded(self._params, index % self._n),
                self._service.history.begin(),
                prompt=self._prompts[index // self._n],
            )
            async with contextlib.aclosing(self._service.events(request)) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        yield Piece(index, event.text, (event.logprob,) if event.logprob else ())
                    elif isinstance(event, Finished):
                        yield End(index, finish_reason(event), event.stats, index % self._n == 0)

    def opening(self, index: int) -> dict[str, Any] | None:
        """Nothing goes before the text."""
        return None

    def piece(self, piece: Piece, offset: int) -> dict[str, Any]:
        """Some text."""
        return self._choice(piece.index, piece.text, piece.logprobs, offset, None)

    def ends(self, end: End) -> Iterator[dict[str, Any]]:
        """The reason."""
        yield self._choice(end.index, "", (), 0, end.reason)

    def choice(self, text: str, logprobs: tuple[TokenLogprob, ...], end: End) -> dict[str, Any]:
        """A whole text."""
        return self._choice(end.index, text, logprobs, 0, end.reason)

    def _choice(
        self, index: int, text: str, logprobs: tuple[TokenLogprob, ...], offset: int, reason: str | None
    ) -> dict[str, Any]:
        asked = self._params.logprobs is not None and (logprobs or reason is None)
        told = text_logprobs(logprobs, offset) if asked else None
        return {"index": index, "text": text, "logprobs": told, "finish_reason": reason}


def _delta(index: int, delta: dict[str, Any], logprobs: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": None}


def seeded(params: SamplingParams, index: int) -> SamplingParams:
    """The parameters of one choice: each has a seed of its own that follows from the request's."""
    return params if params.seed is None else replace(params, seed=(params.seed + index) & MAX_SEED)


def finish_reason(event: Finished) -> str:
    """OpenAI's word for why a reply ended."""
    return "length" if event.reason is FinishReason.LENGTH else "stop"
