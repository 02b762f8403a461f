"""A model without weights and a tokenizer of bytes: exact, fast, and wrong in no way but that it says nothing.

The fake model's logits depend on every token before them, so a cache that kept one token too many or too few
changes what is generated.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor

from engine.config import EngineConfig
from engine.engine import Engine
from engine.events import ModelInfo
from engine.generate import ChunkPacer
from engine.kv_store import KVStore
from engine.loader import LoadedModel
from engine.prompt import PromptBuilder
from engine.tokenizer import Tokenizer as LoquatTokenizer

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
END = "<|im_end|>"


def byte_tokenizer() -> Tokenizer:
    """One token a byte, and ChatML's two special tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={char: n for n, char in enumerate(alphabet)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens([AddedToken(text, special=True) for text in ("<|im_start|>", END)])
    return inner


def loquat_tokenizer() -> LoquatTokenizer:
    inner = byte_tokenizer()
    return LoquatTokenizer(inner, {"eos_token": END}, frozenset([inner.token_to_id(END)]))


class FakeCache:
    """Holds the ids; that is all the fake model needs."""

    def __init__(self, croppable: bool = True) -> None:
        self.held: list[int] = []
        self._croppable = croppable

    @property
    def length(self) -> int:
        return len(self.held)

    @property
    def nbytes(self) -> int:
        return 8 * len(self.held)

    def crop(self, length: int) -> bool:
        if self._croppable:
            del self.held[length:]
        return self._croppable

    def compact(self) -> None:
        pass

    def export(self, length: int | None = None) -> dict[str, Tensor]:
        return {"held": torch.tensor([self.held if not self._croppable else self.held[:length]], dtype=torch.int64)}

    def state(self) -> dict[str, Tensor]:
        return self.export()

    def rewind(self, length: int, state: Mapping[str, Tensor]) -> None:
        self.held = state["held"][0].tolist()


class FakeRunner:
    """Logits drawn from a generator seeded with all tokens so far; or ids from a script, in order.

    Args:
        script: Ids to say one after the other, instead of chance.
        before: Called with the ids of every forward pass, for tests that cancel or fail in the middle.
    """

    description = "fake"
    cache_format = "fake"
    weight_bytes = 0
    kv_bytes_per_token = 8

    def __init__(
        self,
        vocab_size: int = 258,
        context_limit: int = 4096,
        script: Sequence[int] = (),
        before: Callable[[Sequence[int]], None] | None = None,
        croppable: bool = True,
    ) -> None:
        self.vocab_size = vocab_size
        self.context_limit = context_limit
        self.computed = 0
        self._script = list(script)
        self._before = before
        self.croppable = croppable

    def new_cache(self) -> FakeCache:
        return FakeCache(self.croppable)

    def restore_cache(self, tensors: Mapping[str, Tensor]) -> FakeCache:
        cache = self.new_cache()
        cache.held = tensors["held"][0].tolist()
        return cache

    def prefill(self, ids: Sequence[int], cache: FakeCache, keep: int = 1) -> Tensor:
        if self._before:
            self._before(ids)
        self.computed += len(ids)
        cache.held.extend(ids)
        return self._logits(cache.held).expand(keep, -1)

    def decode(self, token_id: int, cache: FakeCache) -> Tensor:
        return self.prefill([token_id], cache)[0]

    def _logits(self, held: Sequence[int]) -> Tensor:
        if self._script:
            logits = torch.zeros(self.vocab_size)
            logits[self._script.pop(0)] = 20.0
            return logits
        seed = 1
        for token_id in held:
            seed = (seed * 1_000_003 + token_id) % (2**61 - 1)
        logits = torch.randn(self.vocab_size, generator=torch.Generator().manual_seed(seed))
        logits[256:] = -1e9  # chance never ends a reply
        return logits


def engine_with(runner: FakeRunner, chunk: int = 16, budget: int = 1 << 20, folder: Path = Path(os.devnull)) -> Engine:
    """An engine around a fake model; without a folder it keeps nothing on disk."""
    engine = Engine(EngineConfig(prefill_chunk=chunk), folder)
    info = ModelInfo("fake", "Fake", "fake", 0, runner.context_limit, "cpu", "a test", "float32", 1, 0, 8, 0.0)
    prompt = PromptBuilder(loquat_tokenizer(), CHATML)
    engine._model = LoadedModel(info, runner, prompt, KVStore(runner, budget), ChunkPacer(chunk))
    return engine


def write_tokenizer(folder: Path) -> None:
    """The byte tokenizer as a model folder holds it."""
    byte_tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "chat_template.jinja").write_text(CHATML, encoding="utf-8")
    (folder / "tokenizer_config.json").write_text('{"eos_token": "<|im_end|>"}', encoding="utf-8")
