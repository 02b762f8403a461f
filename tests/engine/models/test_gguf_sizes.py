"""GGUF files whose metadata asks for sizes that the tensors do not have: one sentence each, at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
import pytest

from engine.decoder.config import DecoderConfig
from engine.errors import BadModelFile, EngineError, UnsupportedModel
from engine.models.gguf_config import config_of
from engine.models.gguf_metadata import Metadata, Value
from engine.models.gguf_parts import open_gguf
from engine.models.gguf_reader import GgufFile
from engine.models.gguf_weights import weights_of
from tests.engine.models.gguf_files import ARCH, write_gguf

TinyModel = Callable[..., Path]
# What a GGUF file can hold: integers of up to 64 bits, floats, texts, flags and lists.
VALUES: Final[tuple[Value, ...]] = (
    *(0, 1, -1, 3, 7, 10**6, 10**9, 2**31, 2**53, 2**63, 2**64 - 1, 0.0, -1.0, 1e-38, 3e38, float("nan"), float("inf")),
    *(True, "", "64", "yarn", ["x"], np.array([]), np.array([2, 2]), np.array([1, 2]), np.array([2**63], np.uint64)),
)
LONG: Final = {"rope_factors_long.weight": np.ones(8, np.float32), "rope_factors_short.weight": np.ones(8, np.float32)}
PAIRS: Final = 200
CASES: Final = sorted(ARCH)


def read(file: GgufFile, values: dict[str, Value]) -> None:
    """As an import reads the sizes."""
    changed = replace(file, metadata=Metadata(file.metadata.file_name, values))
    config = config_of(changed)
    weights_of(changed, config)
    DecoderConfig.from_json(config)


@pytest.mark.parametrize("model_type", CASES)
def test_any_value_ends_in_a_sentence(model_type: str, tiny_model: TinyModel, tmp_path: Path) -> None:
    extra = LONG if model_type == "phi3" else None
    random, sound = Random(model_type), 0
    with open_gguf(write_gguf(tiny_model(model_type), tmp_path / "a.gguf", extra=extra)) as file:
        known = dict(file.metadata.values)
        arch = f"{known['general.architecture']}."
        if extra:
            known[f"{arch}rope.scaling.original_context_length"] = 512
        keys = [key for key in known if key.startswith(arch)]
        keys += [f"{arch}rope.scaling.type", f"{arch}rope.scaling.factor", f"{arch}expert_count"]
        every = [{key: value} for key in keys for value in VALUES]
        pairs = [{key: random.choice(VALUES) for key in random.sample(keys, 2)} for _ in range(PAIRS)]
        for changes in (*every, *pairs):
            start = time.thread_time()
            try:
                read(file, known | changes)
                sound += 1
            except EngineError as error:
                assert isinstance(error, BadModelFile | UnsupportedModel) and error.sentence.endswith("."), changes
            assert time.thread_time() - start < 1, changes
    assert 10 < sound < (len(every) + PAIRS) // 2


def test_heads_that_cannot_be_halved(tiny_model: TinyModel, tmp_path: Path) -> None:
    """All sizes fit together: 64 heads of 1 are as many rows as 4 heads of 16."""
    sizes = {"head_count": 64, "head_count_kv": 32, "key_length": 1, "value_length": 1}
    with open_gguf(write_gguf(tiny_model("llama"), tmp_path / "a.gguf")) as file:
        values = dict(file.metadata.values) | {f"llama.attention.{key}": size for key, size in sizes.items()}
        with pytest.raises(BadModelFile, match=r"contradicts itself \(the shape of blk\.0\.attn_q\.weight\)"):
            read(file, values)
