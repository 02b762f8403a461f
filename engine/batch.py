"""Many prompts answered offline with a model on this machine, several at once where that is faster.

A new sequence takes the place of each one that ends, so that a pass is always full (continuous batching, Yu et al.
2022, "Orca"). Reading a pass's weights once for all its sequences is what makes it faster; each sequence gets the
tokens that it would get alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

from torch import Tensor

from engine.batch_values import Answer, Prompt
from engine.chat import RequestHandle
from engine.detokenizer import Detokenizer, StopStrings
from engine.errors import BadRequest, ContextFull
from engine.events import Finished, FinishReason
from engine.loader import LoadedModel
from engine.runner import SequenceCache
from engine.sampler import Sampler
from engine.turn import Turn, encode_fitting, make_sampler

_PAYS: Final = 16


@runtime_checkable
class DecodesMany(Protocol):
    """A `Runner` that reads one token of each of several sequences in one pass."""

    @property
    def most_sequences(self) -> int:
        """Most sequences of one pass."""
        ...

    def decode_many(self, token_ids: Sequence[int], caches: Sequence[Any]) -> Tensor:
        """Read one token of each sequence, append it to its cache.

        Returns:
            Logits, float32 on the CPU, shape [sequences, vocab_size]; each row is that of `decode`.
        """
        ...


def best_size(model: LoadedModel, wanted: int | None) -> int:
    """How many sequences at once: as many as were wanted, or as pay; 1 where a pass can take no more.

    On a CPU with the compiled kernels 16 gain most of what there is to gain (`loquat bench batch`).
    """
    if not isinstance(model.runner, DecodesMany):
        return 1
    return min(wanted or _PAYS, model.runner.most_sequences)


def answer_all(model: LoadedModel, prompts: Iterable[Prompt], size: int) -> Iterator[Answer]:
    """Complete prompts; answers come as they end.

    Args:
        model: Who answers.
        prompts: Taken one by one, when there is room.
        size: How many at once.
    """
    if size == 1 or not isinstance(model.runner, DecodesMany):
        return (_alone(model, prompt) for prompt in prompts)
    return _Batch(model, model.runner, min(size, model.runner.most_sequences)).run(prompts)


def _alone(model: LoadedModel, prompt: Prompt) -> Answer:
    """One after the other, with reuse of what prompts begin with alike, and with prompt-lookup decoding."""
    request, last = prompt.request, None
    try:
        for event in Turn(model, request, RequestHandle(request.id), _no_clock).run():
            last = event
    except (BadRequest, ContextFull) as error:
        return Answer(prompt.index, error=error.sentence)
    model.store.end(request.conversation_id)
    assert isinstance(last, Finished)  # noqa: S101 - a turn ends so
    return Answer(prompt.index, last.text, last.reason, last.stats.prompt_tokens, last.stats.completion_tokens)


def _no_clock() -> float:
    return 0.0


@dataclass(slots=True)
class _Sequence:
    """One prompt that is being answered."""

    index: int
    prompt: list[int]
    limit: int
    nbytes: int
    cache: SequenceCache
    sampler: Sampler
    detokenizer: Detokenizer
    stops: StopStrings
    ids: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    reason: FinishReason | None = None

    def take(self, logits: Tensor, end_ids: frozenset[int]) -> None:
        """Sample the next token, and notice the end."""
        token_id = self.sampler(logits)
        self.ids.append(token_id)
        if token_id in end_ids:
            self.reason = FinishReason.END
            return
        self.texts.append(self.stops.push(self.detokenizer.push(token_id)))
        if self.stops.hit:
            self.reason = FinishReason.STOP
        elif len(self.ids) == self.limit:
            self.reason = FinishReason.LENGTH

    def answer(self) -> Answer:
        """What came, with what was held back while it could still change."""
        rest = self.stops.push(self.detokenizer.flush()) + self.stops.flush()
        text = "".join(self.texts) + rest
        return Answer(self.index, text, self.reason, len(self.prompt), len(self.ids))


class _Batch:
    """Up to `size` sequences that decode together, within the memory for caches."""

    def __init__(self, model: LoadedModel, runner: DecodesMany, size: int) -> None:
        self._model = model
        self._decode_many: Callable[[Sequence[int], Sequence[Any]], Tensor] = runner.decode_many
        self._size = size
        self._active: list[_Sequence] = []

    def run(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        """The answers, each when it ends."""
        waiting = iter(prompts)
        held: _Sequence | None = None  # has no room yet
        more = True
        while more or self._active or held:
            while len(self._active) < self._size and (more or held):
                if held is None:
                    prompt = next(waiting, None)
                    more = prompt is not None
                    begun = self._begun(prompt) if prompt is not None else None
                    if isinstance(begun, Answer):
                        yield begun
                    held = begun if isinstance(begun, _Sequence) else None
                if held is not None:
                    if not self._fits(held):
                        break
                    self._read(held)
                    held = None
            yield from self._step()

    def _fits(self, sequence: _Sequence) -> bool:
        """Whether there is memory for its longest answer; a sequence alone always may."""
        used = sum(other.nbytes for other in self._active)
        return not self._active or used + sequence.nbytes <= self._model.store.budget

    def _begun(self, prompt: Prompt) -> _Sequence | Answer:
        """The sequence of a prompt, of which nothing is read yet; or why there will be none."""
        model, params = self._model, prompt.request.params
        try:
            ids = encode_fitting(model, prompt.request)
            sampler = make_sampler(model, params, ids)
        except (BadRequest, ContextFull) as error:
            return Answer(prompt.index, error=error.sentence)
        room = model.runner.context_limit - len(ids)
        limit = min(params.max_tokens or room, room)
        return _Sequence(
            prompt.index,
            ids,
            limit,
            (len(ids) + limit) * model.runner.kv_bytes_per_token,
            model.runner.new_cache(),
            sampler,
            Detokenizer(model.prompt.tokenizer.decode),
            model.prompt.stop_strings(prompt.request),
        )

    def _read(self, sequence: _Sequence) -> None:
        logits = self._model.runner.prefill(sequence.prompt, sequence.cache)[-1]
        sequence.take(logits, self._model.prompt.tokenizer.end_ids)
        self._active.append(sequence)

    def _step(self) -> Iterator[Answer]:
        """Give out what has ended, then one more token for all others."""
        ended = [sequence for sequence in self._active if sequence.reason is not None]
        self._active = [sequence for sequence in self._active if sequence.reason is None]
        yield from (sequence.answer() for sequence in ended)
        if ended or not self._active:
            return  # there is room for others first
        tokens = [sequence.ids[-1] for sequence in self._active]
        rows = self._decode_many(tokens, [sequence.cache for sequence in self._active])
        for sequence, logits in zip(self._active, rows, strict=True):
            sequence.take(logits, self._model.prompt.tokenizer.end_ids)
