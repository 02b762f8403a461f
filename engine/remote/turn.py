"""One turn on a server: from a request to its events."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any, Final

from engine.chat import ChatRequest, RequestHandle
from engine.errors import BadRequest, Cancelled, EngineError, ServerFailed
from engine.events import ChatEvent, Finished, FinishReason, PrefillProgress, TextDelta
from engine.explain.served import PATH, served_trace
from engine.explain.trace import ModelFacts, TurnTrace
from engine.explain.version import program_version
from engine.remote.body import extras, request_body
from engine.remote.faults import Fault, broke_off, fault_of, not_an_answer, stalled, waiting_sentence
from engine.remote.figures import Usage, remote_stats, usage_of
from engine.remote.link import Link
from engine.remote.servers import RemoteServer
from engine.remote.thinking import Joined
from engine.stats import TurnStats

Clock = Callable[[], float]

_REASONS: Final = {"stop": FinishReason.END, "length": FinishReason.LENGTH}
_REFUSED: Final = (400, 422)


class RemoteTurn:
    """One request on its way to a server and back.

    Args:
        link: The way to the server.
        server: Whom to name when something goes wrong.
        model: The model's name there.
        request: What is asked.
        handle: Looked at every few milliseconds, whatever the network does.
        clock: Monotonic seconds, the clock of `ChatRequest.submitted_at`.
        beyond: Whether the server may know more than OpenAI's API, as far as it is known.

    Attributes:
        beyond: The same, now that it was asked.
    """

    def __init__(
        self,
        link: Link,
        server: RemoteServer,
        model: str,
        request: ChatRequest,
        handle: RequestHandle,
        *,
        clock: Clock,
        beyond: bool,
    ) -> None:
        self._link = link
        self._server = server
        self._model = model
        self._request = request
        self._handle = handle
        self._clock = clock
        self.beyond = beyond
        self._texts: list[str] = []
        self._times: list[float] = []
        self._joined = Joined()
        self._usage = Usage()
        self._reason: FinishReason | None = None
        self._answered = False

    def run(self) -> Iterator[ChatEvent]:
        """The events of the answer, `Finished` last.

        Raises:
            BadRequest: There is nothing to answer, or a server cannot.
            ServerFailed: It did not answer, or not to the end; what came was told, and the error has its figures.
        """
        started = self._clock()
        try:
            stream = yield from self._opened()
            with self._closing(stream):
                yield from self._read(aiter(stream))
        except Cancelled:
            self._reason = FinishReason.CANCELLED
        except EngineError as error:
            error.stats = self._stats(started) if self._times else None
            raise
        reason = self._reason or FinishReason.CANCELLED
        yield Finished(
            self._request.id,
            reason,
            "".join(self._texts),
            (),
            self._stats(started),
            trace=self._trace(reason, started),
        )

    def _stats(self, started: float) -> TurnStats:
        return remote_stats(self._server.name, self._usage, self._request.submitted_at, started, self._times)

    def _trace(self, reason: FinishReason, started: float) -> TurnTrace:
        name = self._server.name_of(self._model)
        return served_trace(
            reason=reason.value,
            model=ModelFacts(name=name, label=self._model, version=program_version(), path=PATH),
            submitted=self._request.submitted_at,
            started=started,
            pieces=self._times,
            ended=self._clock(),
            prompt=self._usage.prompt,
            cached=self._usage.cached,
            completion=self._usage.completion,
        )

    def _cancelled(self) -> bool:
        return self._handle.cancelled

    def _opened(self) -> Generator[ChatEvent, None, Any]:
        """The stream of the answer; a busy server is asked once more."""
        body = self._body()
        yield self._waiting("")
        retried = False
        while True:
            try:
                return self._ask(body)
            except Cancelled:
                raise
            except Exception as error:
                fault = fault_of(error, self._server, self._model)
                if retried or fault.retry_s is None:
                    raise fault.error from error
            retried = True
            yield from self._wait_for(fault)

    def _wait_for(self, fault: Fault) -> Iterator[ChatEvent]:
        seconds = fault.retry_s or 0.0
        yield self._waiting(waiting_sentence(self._server, seconds))
        self._link.pause(seconds, self._cancelled)
        yield self._waiting("")

    def _body(self) -> dict[str, Any]:
        return request_body(self._request, self._model, beyond=self.beyond)

    def _ask(self, body: dict[str, Any]) -> Any:  # noqa: ANN401 - a stream of the `openai` client
        """Send the request; without what OpenAI's API lacks, if that is what a server refuses."""
        import openai

        try:
            return self._send(body)
        except openai.APIStatusError as error:
            if error.status_code not in _REFUSED or not self.beyond or not extras(self._request.params):
                raise
        self.beyond = False
        return self._send(self._body())

    def _send(self, body: dict[str, Any]) -> Any:  # noqa: ANN401 - as above
        return self._link.wait(
            self._link.client.chat.completions.create(**body, extra_headers=self._link.headers), self._cancelled
        )

    def _read(self, chunks: AsyncIterator[Any]) -> Iterator[ChatEvent]:
        while (chunk := self._next(chunks)) is not None:
            delta = self._take(chunk)
            if delta is not None:
                yield delta
        if not self._answered:
            raise not_an_answer(self._server, "a stream without one choice")
        if self._reason is None:
            raise broke_off(self._server, "a stream without a finish_reason")

    def _next(self, chunks: AsyncIterator[Any]) -> Any:  # noqa: ANN401 - a chunk of the `openai` client, or None
        try:
            return self._link.wait(_after(chunks), self._cancelled)
        except Cancelled:
            raise
        except Exception as error:
            fault = self._broken(error)
            if self._reason is not None:
                return None  # the answer was complete before
            raise fault from error

    def _broken(self, error: Exception) -> ServerFailed | BadRequest:
        import openai

        fault = fault_of(error, self._server, self._model).error
        if isinstance(error, openai.APITimeoutError):
            return stalled(self._server, fault.detail)
        return broke_off(self._server, fault.detail) if isinstance(error, openai.APIConnectionError) else fault

    def _take(self, chunk: Any) -> TextDelta | None:  # noqa: ANN401 - as above
        """Note what a chunk says; the text it adds, if it adds any."""
        usage = getattr(chunk, "usage", None)
        if usage is not None:
            self._usage = usage_of(usage)
        choices = getattr(chunk, "choices", None)
        if not isinstance(choices, list) or not choices:
            return None
        self._answered = True
        choice = choices[0]
        if getattr(choice, "finish_reason", None):
            self._reason = _REASONS.get(choice.finish_reason, FinishReason.END)
        text = self._joined.text(getattr(choice, "delta", None))
        if not text:
            return None
        self._texts.append(text)
        self._times.append(self._clock())
        return TextDelta(self._request.id, text, (), self._times[-1])

    def _waiting(self, note: str) -> PrefillProgress:
        return PrefillProgress(self._request.id, 0, 0, 0, self._clock(), note)

    @contextlib.contextmanager
    def _closing(self, stream: Any) -> Iterator[None]:  # noqa: ANN401 - as above
        """Close the connection however the answer ends, so that the server stops too."""
        try:
            yield
        finally:
            self._link.wait(stream.response.aclose(), lambda: False)


async def _after(chunks: AsyncIterator[Any]) -> Any:  # noqa: ANN401 - as above
    return await anext(chunks, None)
