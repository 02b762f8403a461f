"""Collects all weights of a decoder in kernel layout, from either source."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.decoder.config import DecoderConfig
from engine.kernels.formats import Kind, QuantizedMatrix
from engine.kernels.sources import Floats, Shape, Source
from engine.kernels.store import packed_writer
from engine.kernels.weights import KernelLayer, KernelWeights, PackedLinear, check_sizes, padded_bias


def pack(config: DecoderConfig, source: Source, kind: Kind = Kind.Q4A) -> KernelWeights:
    """Pack a decoder. The embedding and the head stay in 8 bits where they come in more: 4 cost too much quality.

    Args:
        config: What the weights must be.
        source: Where they come from.
        kind: What the layers' matrices become if they come as floats.

    Raises:
        UnsupportedModel: The kernels cannot compute this decoder, with the reason.
        BadModelFile: A weight is missing, of another shape, or no number.
    """
    steps = pack_steps(config, source, kind)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            weights: KernelWeights = end.value
            return weights


def pack_steps(config: DecoderConfig, source: Source, kind: Kind = Kind.Q4A) -> Generator[int, None, KernelWeights]:
    """`pack` in steps, for progress: yields the number of layers packed so far, after each."""
    check_sizes(config)
    packer = _Packer(config, source, kind)
    embedding, head, norm = packer.ends()
    layers = []
    for index in range(len(config.layers)):
        layers.append(packer.layer(f"layers.{index}."))
        yield len(layers)
    return KernelWeights(tuple(layers), norm, head, embedding)


def pack_to(path: Path, config: DecoderConfig, source: Source, kind: Kind) -> Generator[int, None, None]:
    """`pack_steps` straight onto the disk: no more than one layer, or the embedding, is in memory.

    Raises:
        UnsupportedModel, BadModelFile: As `pack` does.
        OSError: The disk refused; nothing is left behind.
    """
    check_sizes(config)
    packer = _Packer(config, source, kind)
    with packed_writer(path, len(config.layers)) as writer:
        writer.ends(*packer.ends())
        for index in range(len(config.layers)):
            writer.layer(index, packer.layer(f"layers.{index}."))
            yield index + 1


@dataclass(frozen=True, slots=True)
class _Packer:
    config: DecoderConfig
    source: Source
    kind: Kind

    def ends(self) -> tuple[QuantizedMatrix, PackedLinear, Floats]:
        """The embedding, the head and the last norm."""
        config, shape = self.config, (self.config.vocab_size, self.config.hidden_size)
        embedding = self.source.matrix([("embed_tokens.weight", shape)], Kind.Q8)
        head = embedding if config.tied else self.source.matrix([("lm_head.weight", shape)], Kind.Q8)
        return embedding, PackedLinear(head), self._norm("norm", config.hidden_size)

    def layer(self, prefix: str) -> KernelLayer:
        """The layer whose weights' names begin so."""
        config, attention, mlp = self.config, f"{prefix}self_attn.", f"{prefix}mlp."
        hidden, inner, attended = config.hidden_size, config.intermediate_size, config.heads * config.head_dim
        middle = "pre_feedforward_layernorm" if config.post_norms else "post_attention_layernorm"
        return KernelLayer(
            qkv=self._linear(self._qkv_names(attention), hidden, config.qkv_bias),
            output=self._linear({f"{attention}o_proj": hidden}, attended, config.output_bias),
            gate_up=self._linear(self._gate_names(mlp), hidden, config.mlp_bias),
            down=self._linear({f"{mlp}down_proj": hidden}, inner, config.mlp_bias),
            attention_norm=self._norm(f"{prefix}input_layernorm", hidden),
            mlp_norm=self._norm(prefix + middle, hidden),
            attention_post_norm=self._post_norm(f"{prefix}post_attention_layernorm"),
            mlp_post_norm=self._post_norm(f"{prefix}post_feedforward_layernorm"),
            qk_norm=self._head_norms(attention) if config.qk_norm else None,
        )

    def _qkv_names(self, prefix: str) -> dict[str, int]:
        sizes = self.config.qkv_sizes
        if self.config.fused:
            return {f"{prefix}qkv_proj": sum(sizes)}
        return dict(zip((f"{prefix}{side}_proj" for side in "qkv"), sizes, strict=True))

    def _gate_names(self, prefix: str) -> dict[str, int]:
        size = self.config.intermediate_size
        return (
            {f"{prefix}gate_up_proj": 2 * size}
            if self.config.fused
            else {f"{prefix}gate_proj": size, f"{prefix}up_proj": size}
        )

    def _linear(self, rows: dict[str, int], columns: int, bias: bool) -> PackedLinear:
        parts: list[tuple[str, Shape]] = [(f"{name}.weight", (n, columns)) for name, n in rows.items()]
        matrix = self.source.matrix(parts, self.kind)
        biases = [self.source.vector(f"{name}.bias", (n,)) for name, n in rows.items()] if bias else []
        return PackedLinear(matrix, padded_bias(biases, matrix))

    def _norm(self, name: str, size: int) -> Floats:
        stored = self.source.vector(f"{name}.weight", (size,))
        return np.ascontiguousarray(stored + np.float32(self.config.norm_offset))

    def _post_norm(self, name: str) -> Floats | None:
        return self._norm(name, self.config.hidden_size) if self.config.post_norms else None

    def _head_norms(self, prefix: str) -> Floats:
        """One row per query and key head."""
        sides = (("q_norm", self.config.heads), ("k_norm", self.config.kv_heads))
        return np.concatenate([np.tile(self._norm(prefix + name, self.config.head_dim), (n, 1)) for name, n in sides])
