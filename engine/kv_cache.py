"""The KV cache of one conversation: which tokens it holds, and how much of a new prompt they cover."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
from torch import Tensor

from engine.errors import BadModelFile
from engine.runner import AnyRunner

_MOST_MARKS: Final = 6
_MARK: Final = "mark"
_FIRST_BLOCK: Final = 64  # tokens compared at first; most prompts differ early or hardly at all

Ids = Sequence[int] | np.ndarray
Result = TypeVar("Result")


def common_prefix(a: Ids, b: Ids) -> int:
    """Length of the longest common beginning."""
    length = min(len(a), len(b))
    start, block = 0, _FIRST_BLOCK
    while start < length:
        end = min(length, start + block)
        differing = np.flatnonzero(np.asarray(a[start:end]) != np.asarray(b[start:end]))
        if len(differing):
            return start + int(differing[0])
        start, block = end, 2 * block
    return length


def reusable(held: Ids, marks: Sequence[int] | None, ids: Ids) -> int:
    """Tokens of a new prompt that a cache spares; at most all but the last, whose logits are wanted.

    Args:
        held: Tokens in the cache.
        marks: Lengths besides the whole one that it can return to; None if it can be cropped anywhere.
        ids: The new prompt.
    """
    common = max(0, min(common_prefix(held, ids), len(ids) - 1))
    if marks is None or common == len(held):
        return common
    return max((mark for mark in marks if mark <= common), default=0)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A cache as tensors, for copies and for the disk.

    Attributes:
        ids: Tokens held.
        tensors: The runner's export, and the states at the marks as `mark.<length>.<name>`.
    """

    ids: Sequence[int]
    tensors: Mapping[str, Tensor]

    @property
    def nbytes(self) -> int:
        """Of all tensors together."""
        return sum(tensor.nbytes for tensor in self.tensors.values())

    @property
    def marks(self) -> tuple[int, ...]:
        """Lengths at which it holds states."""
        return mark_lengths(self.tensors)


def mark_lengths(names: Iterable[str]) -> tuple[int, ...]:
    """The lengths at which a snapshot with tensors of these names holds states, shortest first."""
    return tuple(sorted({int(name.split(".")[1]) for name in names if name.startswith(f"{_MARK}.")}))


@dataclass(frozen=True, slots=True)
class _Mark:
    """The states of a cache that cannot be cropped, at one length it may have to return to."""

    length: int
    state: dict[str, Tensor]


class KVCache:
    """Token ids and, in step with them, the runner's keys and values.

    Every token goes in through `prefill` or `decode`, so the two cannot drift apart; whatever fails leaves the
    cache empty, never wrong.
    """

    def __init__(self, runner: AnyRunner) -> None:
        self._runner = runner
        self._cache = runner.new_cache()
        self._marks: list[_Mark] = []
        self.ids: list[int] = []

    @classmethod
    def restored(cls, runner: AnyRunner, snapshot: Snapshot) -> KVCache:
        """The cache that a snapshot was taken of; the tensors are copied.

        Raises:
            BadModelFile: They are no cache of this model, or not of so many tokens.
        """
        own = {name: tensor for name, tensor in snapshot.tensors.items() if not name.startswith(f"{_MARK}.")}
        made = cls(runner)
        made._cache = runner.restore_cache(own)
        if made._cache.length != len(snapshot.ids):
            raise BadModelFile(
                "A saved cache does not fit its tokens.", f"{made._cache.length} of {len(snapshot.ids)} tokens"
            )
        made._marks = _marks_of(snapshot)
        made.ids = list(snapshot.ids)
        return made

    @property
    def stateful(self) -> bool:
        """Whether the cache cannot be cropped, only return to its marks."""
        return not self._runner.croppable

    @property
    def marks(self) -> tuple[int, ...] | None:
        """Lengths besides the whole one that the cache can return to; None if it can be cropped anywhere."""
        return tuple(mark.length for mark in self._marks) if self.stateful else None

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        marks = sum(t.nbytes for mark in self._marks for t in mark.state.values())
        return int(self._cache.nbytes) + marks

    def covers(self, ids: Sequence[int]) -> int:
        """Tokens of a new prompt that need not be computed; at most all but the last, whose logits are wanted."""
        return reusable(self.ids, self.marks, ids)

    def reuse(self, ids: Sequence[int]) -> list[int]:
        """Keep the longest common prefix with `ids` and return the rest, at least one token."""
        kept = self.covers(ids)
        self._return_to(kept)
        self.mark()
        return list(ids[kept:])

    def mark(self) -> None:
        """Remember this point, so that a cache that cannot be cropped can return to it; else nothing to do."""
        if self.stateful and self.ids and len(self.ids) not in {mark.length for mark in self._marks}:
            self._marks = _thinned([*self._marks, _Mark(len(self.ids), self._cache.state())])

    def prefill(self, ids: Sequence[int]) -> Tensor:
        """Append `ids`; logits of the last one, float32 [vocab_size]."""
        if len(ids) == 1:
            return self.decode(ids[0])
        logits: Tensor = self._guarded(lambda: self._runner.prefill(ids, self._cache, keep=1)[0])
        self.ids.extend(ids)
        return logits

    @property
    def room(self) -> int:
        """Tokens that still fit the context."""
        return int(self._runner.context_limit) - len(self.ids)

    def verify(self, ids: Sequence[int]) -> Tensor:
        """Append `ids`; logits after each of them, float32 [len(ids), vocab_size]."""
        logits: Tensor = self._guarded(lambda: self._runner.prefill(ids, self._cache, keep=len(ids)))
        self.ids.extend(ids)
        return logits

    def crop(self, length: int) -> None:
        """Forget all but the first `length` tokens; only for caches that are not stateful."""
        if length < len(self.ids):
            self._return_to(length)

    def decode(self, token_id: int) -> Tensor:
        """Append one token; its logits, float32 [vocab_size]."""
        logits: Tensor = self._guarded(lambda: self._runner.decode(token_id, self._cache))
        self.ids.append(token_id)
        return logits

    def snapshot(self, length: int | None = None) -> Snapshot:
        """The first `length` tokens (None: all; always all where cropping is not possible), as views of this cache."""
        if not self.stateful:
            ids = tuple(self.ids[:length])
            return Snapshot(ids, self._cache.export(len(ids)))
        states = {f"{_MARK}.{m.length}.{name}": tensor for m in self._marks for name, tensor in m.state.items()}
        return Snapshot(tuple(self.ids), {**self._cache.export(), **states})

    def copy(self, length: int) -> KVCache:
        """Another cache that holds the first `length` tokens, a number that `covers` gave."""
        made = KVCache.restored(self._runner, self.snapshot(length))
        made._return_to(length)
        return made

    def compact(self) -> None:
        """Give back the room for tokens to come."""
        self._guarded(self._cache.compact)

    def clear(self) -> None:
        """Forget everything and give the memory back."""
        self._cache = self._runner.new_cache()
        self._marks = []
        self.ids = []

    def _return_to(self, length: int) -> None:
        """Shorten to a length that `covers` gave."""
        if length == 0:
            self.clear()
        elif length < len(self.ids):
            self._guarded(lambda: self._cut(length))
            self._marks = [mark for mark in self._marks if mark.length <= length]
            del self.ids[length:]

    def _cut(self, length: int) -> None:
        if not self._cache.crop(length):
            state = next(mark.state for mark in self._marks if mark.length == length)
            self._cache.rewind(length, state)

    def _guarded(self, action: Callable[[], Result]) -> Result:
        try:
            return action()
        except BaseException:
            self.clear()
            raise


def _thinned(marks: list[_Mark]) -> list[_Mark]:
    """Few enough marks: the one whose loss leaves the smallest hole goes, but never one of the turn at hand."""
    if len(marks) <= _MOST_MARKS:
        return marks
    lengths = [0, *(mark.length for mark in marks)]
    holes = [after - before for before, after in zip(lengths, lengths[2:-1], strict=False)]
    lost = holes.index(min(holes))
    return [*marks[:lost], *marks[lost + 1 :]]


def _marks_of(snapshot: Snapshot) -> list[_Mark]:
    """The marks in a snapshot, copied."""
    marks = []
    for length in snapshot.marks:
        prefix = f"{_MARK}.{length}."
        own = {name.removeprefix(prefix): t for name, t in snapshot.tensors.items() if name.startswith(prefix)}
        marks.append(_Mark(length, {name: tensor.clone() for name, tensor in own.items()}))
    return marks
