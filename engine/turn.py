"""One turn of a conversation: from a request to its events."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Iterator, Sequence

from torch import Tensor

from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import SamplingParams
from engine.detokenizer import Detokenizer, StopStrings, never_shown
from engine.errors import ContextFull
from engine.estimate import about_prompt, about_tokens
from engine.events import ChatEvent, Finished, FinishReason, PrefillProgress, TextDelta, TokenLogprob
from engine.explain.recorder import NoNotes, Notes, Outcome
from engine.generate import decode, prefill
from engine.kv_cache import KVCache
from engine.kv_store import Reuse
from engine.loader import LoadedModel
from engine.overflow import Fitted, fit
from engine.sampler import Sampler, Scores
from engine.speculate import Drafter
from engine.stats import TurnStamps, turn_stats

Clock = Callable[[], float]


def fit_to_context(model: LoadedModel, request: ChatRequest) -> Fitted:
    """The request's messages, without the oldest turns if they do not fit the model's context and may be left out."""
    if request.overflow == "stop" or request.prompt is not None:
        return Fitted(request.messages, ())
    limit = model.runner.context_limit

    def cost(messages: Sequence[Message]) -> int:
        return about_tokens(messages, limit) or model.prompt.count(messages, request.started_on)

    return fit(request.messages, cost, limit)


def check_fits(model: LoadedModel, request: ChatRequest) -> None:
    """Refuse what cannot fit before it is tokenised, which would take long.

    Raises:
        ContextFull: It is far longer than the context.
    """
    limit = model.runner.context_limit
    if about := about_prompt(request, limit):
        raise _too_long(f"about {about:,}", limit)


def encode_fitting(model: LoadedModel, request: ChatRequest) -> list[int]:
    """The ids of a prompt that leaves room for a reply.

    Raises:
        BadRequest: There is nothing to answer, or the template refuses these messages.
        ContextFull: It leaves none.
    """
    check_fits(model, request)
    prompt, limit = model.prompt.encode(request), model.runner.context_limit
    if len(prompt) >= limit:
        raise _too_long(f"{len(prompt):,}", limit)
    return prompt


def make_sampler(model: LoadedModel, params: SamplingParams, prompt: Sequence[int]) -> Sampler:
    """What chooses the tokens of one reply.

    Raises:
        BadRequest: The parameters name a token or a schema that cannot be used.
    """
    size, schema = model.runner.vocab_size, params.json_schema
    constraint = model.prompt.tokenizer.vocabulary(size).constraint(schema) if schema else None
    return Sampler(params, size, prompt, constraint)


def _too_long(tokens: str, limit: int) -> ContextFull:
    return ContextFull(
        f"This chat has {tokens} tokens, but the model can hold {limit:,}; shorten the message or start a new chat."
    )


class Turn:
    """One request on its way through template, prefill and decode.

    Args:
        model: Who answers.
        request: What is asked.
        handle: Polled per token and per prefill chunk.
        clock: Monotonic seconds, the clock of `ChatRequest.submitted_at`.
        notes: Told of everything that happens; None keeps none.
    """

    def __init__(
        self,
        model: LoadedModel,
        request: ChatRequest,
        handle: RequestHandle,
        clock: Clock,
        notes: Notes | None = None,
    ) -> None:
        self._model = model
        self._request = request
        self._handle = handle
        self._clock = clock
        self._notes = notes or NoNotes()
        self._times: list[float] = []
        self._ids: list[int] = []
        self._texts: list[str] = []
        self._drafter: Drafter | None = None

    def run(self) -> Iterator[ChatEvent]:
        """The events of the answer, `Finished` last.

        Raises:
            BadRequest: There is nothing to answer, or it cannot be answered as the parameters ask.
            ContextFull: The prompt leaves no room for a reply.
        """
        with self._notes:
            yield from self._run()

    def _run(self) -> Iterator[ChatEvent]:
        started = self._clock()
        self._notes.started()
        fitted = fit_to_context(self._model, self._request)
        sent = dataclasses.replace(self._request, messages=fitted.messages)
        prompt = encode_fitting(self._model, sent)
        sampler = make_sampler(self._model, self._request.params, prompt)
        templated = self._clock()
        self._notes.templated()
        cache = self._cache_for(prompt)
        rest = cache.reuse(prompt)
        cached = len(prompt) - len(rest)
        logits = yield from self._prefill(cache, rest, cached)
        read = len(cache.ids) - cached
        prefilled = self._clock()
        self._notes.prefilled()
        reason = FinishReason.CANCELLED
        if logits is not None:
            reason = yield from self._decode(cache, logits, prompt, sampler)
        stamps = TurnStamps(self._request.submitted_at, started, templated, prefilled, tuple(self._times))
        drafted, accepted = (self._drafter.drafted, self._drafter.accepted) if self._drafter else (0, 0)
        stats = turn_stats(
            stamps,
            prompt=len(prompt),
            cached=cached,
            prefilled=read,
            kv_bytes=cache.nbytes,
            drafted=drafted,
            accepted=accepted,
        )
        text, ids = "".join(self._texts), tuple(self._ids)
        outcome = Outcome(reason.value, prompt, cached, read, ids, text, fitted.left_out, drafted, accepted)
        trace = self._notes.finished(outcome)
        yield Finished(self._request.id, reason, text, ids, stats, fitted.left_out, trace)

    def _cache_for(self, prompt: list[int]) -> KVCache:
        store = self._model.store
        nbytes, seconds = store.spilled
        reuse = (
            store.begin(self._request.conversation_id, prompt) if self._request.reuse else Reuse(store.fresh(), "none")
        )
        after, until = store.spilled
        self._notes.opened(reuse.cache, reuse.source, (after - nbytes, until - seconds))
        return reuse.cache

    def _prefill(self, cache: KVCache, rest: list[int], cached: int) -> Generator[ChatEvent, None, Tensor | None]:
        yield PrefillProgress(self._request.id, cached, 0, len(rest), self._clock())
        self._notes.reading()
        steps = prefill(cache, rest, self._model.pacer, lambda: self._handle.cancelled)
        while True:
            try:
                done = next(steps)
            except StopIteration as end:
                logits: Tensor | None = end.value
                return logits
            self._notes.chunk(done)
            yield PrefillProgress(self._request.id, cached, done, len(rest), self._clock())

    def _decode(
        self, cache: KVCache, logits: Tensor, prompt: list[int], sampler: Sampler
    ) -> Generator[ChatEvent, None, FinishReason]:
        tokenizer, runner = self._model.prompt.tokenizer, self._model.runner
        detokenizer, owed = self._begun_text()
        stops = self._model.prompt.stop_strings(self._request)
        room = runner.context_limit - len(prompt)
        limit = min(self._request.params.max_tokens or room, room)
        reason = FinishReason.LENGTH
        self._drafter = self._model.drafter(prompt) if self._request.speculate and runner.croppable else None
        for token_id in decode(cache, logits, sampler, limit, lambda: self._handle.cancelled, drafter=self._drafter):
            at = self._clock()
            self._notes.token(at)
            ended = token_id in tokenizer.end_ids
            text, owed = ("", owed) if ended else (stops.push(owed + detokenizer.push(token_id)), "")
            yield self._delta(text, token_id, at, None if ended else sampler.scores)
            self._notes.resumed()
            if ended or stops.hit:
                reason = FinishReason.END if ended else FinishReason.STOP
                break
        yield from self._rest(owed, detokenizer, stops)
        cancelled = reason is FinishReason.LENGTH and self._handle.cancelled and len(self._ids) < limit
        return FinishReason.CANCELLED if cancelled else reason

    def _delta(self, text: str, token_id: int, at: float, scores: Scores | None) -> TextDelta:
        self._times.append(at)
        self._ids.append(token_id)
        self._texts.append(text)
        return TextDelta(self._request.id, text, (token_id,), at, self._logprob(token_id, scores) if scores else None)

    def _logprob(self, token_id: int, scores: Scores) -> TokenLogprob:
        token_bytes = self._model.prompt.tokenizer.vocabulary(self._model.runner.vocab_size).token_bytes
        top = tuple(TokenLogprob(token_bytes(other), logprob) for other, logprob in scores.top)
        return TokenLogprob(token_bytes(token_id), scores.logprob, top)

    def _begun_text(self) -> tuple[Detokenizer, str]:
        """The detokenizer where the reply begins or goes on, and text before there that was never shown."""
        tokenizer = self._model.prompt.tokenizer
        decode = tokenizer.decode_all if self._request.tools else tokenizer.decode
        if not self._request.continue_reply:
            return Detokenizer(decode), ""
        begun = self._request.messages[-1]
        ids = self._model.prompt.reply_ids(begun)
        stops = self._model.prompt.stops_of(self._request)
        return Detokenizer(decode, ids), never_shown(decode, ids, begun.content, stops)

    def _rest(self, owed: str, detokenizer: Detokenizer, stops: StopStrings) -> Iterator[ChatEvent]:
        """What was held back while it could still change."""
        text = stops.push(owed + detokenizer.flush()) + stops.flush()
        if text:
            self._texts.append(text)
            yield TextDelta(self._request.id, text, (), self._clock())
