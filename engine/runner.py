"""The forward pass as the rest of the engine sees it: two protocols, any number of implementations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from torch import Tensor


class SequenceCache(Protocol):
    """Keys and values of one sequence, in whatever layout its runner likes."""

    @property
    def length(self) -> int:
        """Tokens held."""
        ...

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        ...

    def crop(self, length: int) -> bool:
        """Forget all but the first `length` tokens; False if this cache cannot (then it is unchanged)."""
        ...

    def compact(self) -> None:
        """Give back the room for tokens to come; called when the conversation is left for another."""
        ...

    def export(self, length: int | None = None) -> dict[str, Tensor]:
        """The first `length` tokens (None: all), for copies and for the disk.

        In every tensor of a cache that can be cropped, dimension 1 counts tokens. The tensors may be views of the
        cache: whoever keeps them copies them. A cache that cannot be cropped gives all tokens it holds, whatever
        `length` says.
        """
        ...


class StatefulCache(SequenceCache, Protocol):
    """A cache that cannot be cropped because states in it sum up all tokens: it can only return to a kept state."""

    def state(self) -> dict[str, Tensor]:
        """Copies of the states as they are now, without what could be cropped."""
        ...

    def rewind(self, length: int, state: Mapping[str, Tensor]) -> None:
        """Return to the `length` tokens after which `state` was taken; all later ones are forgotten."""
        ...


Cache = TypeVar("Cache", bound=SequenceCache)


class Runner(Protocol[Cache]):
    """One model on one device. Not thread-safe: it belongs to the worker thread.

    A runner works on caches that it made itself, of type `Cache`.
    """

    @property
    def description(self) -> str:
        """Which implementation runs and why, in words."""
        ...

    @property
    def cache_format(self) -> str:
        """Names how keys and values are computed and held; over equal weights, equal formats are equal caches."""
        ...

    @property
    def croppable(self) -> bool:
        """Whether caches of this model can be cropped; where not, they are a `StatefulCache`."""
        ...

    @property
    def vocab_size(self) -> int:
        """Length of a row of logits."""
        ...

    @property
    def context_limit(self) -> int:
        """Most tokens a cache of this runner can hold."""
        ...

    @property
    def weight_bytes(self) -> int:
        """Memory held by the weights."""
        ...

    @property
    def kv_bytes_per_token(self) -> int:
        """Memory that one more token costs."""
        ...

    def new_cache(self) -> Cache:
        """An empty cache."""
        ...

    def restore_cache(self, tensors: Mapping[str, Tensor]) -> Cache:
        """The cache whose `export` these tensors are; they are copied.

        Raises:
            BadModelFile: They are no cache of this model and format.
        """
        ...

    def prefill(self, ids: Sequence[int], cache: Cache, keep: int = 1) -> Tensor:
        """Read `ids` in parallel, append them to `cache`.

        Returns:
            Logits of the last `keep` positions, float32 on the CPU, shape [keep, vocab_size].
        """
        ...

    def decode(self, token_id: int, cache: Cache) -> Tensor:
        """Read one token, append it to `cache`; its logits, float32 on the CPU, shape [vocab_size]."""
        ...


AnyRunner: TypeAlias = Runner[Any]
