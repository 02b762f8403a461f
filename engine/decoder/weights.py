"""The weights of a decoder, fused and in the format that a factory gives them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.decoder.checkpoint import Checkpoint
from engine.decoder.config import DecoderConfig
from engine.decoder.linear import DenseEmbedding, DenseLinear, Embedding, Linear, LinearFactory


@dataclass(frozen=True, slots=True)
class LayerWeights:
    """One layer. Norm weights are float32 with the family's offset already added.

    Attributes:
        qkv: hidden_size to query, key and value heads, in this order.
        output: Query heads to hidden_size.
        gate_up: hidden_size to gate and up, in this order, each intermediate_size.
        down: intermediate_size to hidden_size.
        attention_norm, mlp_norm: Before each half layer, [hidden_size].
        attention_post_norm, mlp_post_norm: After each half layer, [hidden_size], or None.
        qk_norm: Of each query and key head, [heads + kv_heads, head_dim], or None.
    """

    qkv: Linear
    output: Linear
    gate_up: Linear
    down: Linear
    attention_norm: Tensor
    mlp_norm: Tensor
    attention_post_norm: Tensor | None = None
    mlp_post_norm: Tensor | None = None
    qk_norm: Tensor | None = None

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        linears = (self.qkv, self.output, self.gate_up, self.down)
        norms = (self.attention_norm, self.mlp_norm, self.attention_post_norm, self.mlp_post_norm, self.qk_norm)
        return sum(linear.nbytes for linear in linears) + sum(norm.nbytes for norm in norms if norm is not None)


@dataclass(frozen=True, slots=True)
class DecoderWeights:
    """A whole decoder.

    Attributes:
        embedding: Token vectors.
        layers: In order.
        norm: Before the head, float32 [hidden_size].
        head: hidden_size to vocab_size.
        dtype: Of the activations.
        device: Where all tensors are.
    """

    embedding: Embedding
    layers: tuple[LayerWeights, ...]
    norm: Tensor
    head: Linear
    dtype: torch.dtype
    device: torch.device

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes; memory-mapped weights count as held."""
        rest = self.embedding.nbytes + self.norm.nbytes + self.head.nbytes
        return rest + sum(layer.nbytes for layer in self.layers)


def load_weights(
    checkpoint: Checkpoint, config: DecoderConfig, factory: LinearFactory, *, dtype: torch.dtype, device: torch.device
) -> DecoderWeights:
    """Read all weights; dense matrices of the right dtype on the CPU stay memory-mapped and are read when used.

    Args:
        checkpoint: Where they are.
        config: What they must be.
        factory: Gives every linear of a layer its format; embedding and head are dense.
        dtype: Of the activations, the embedding and the head.
        device: Where they go.

    Raises:
        BadModelFile: A tensor is missing, of another shape, or a file is damaged.
    """
    return _Loader(checkpoint, config, factory, dtype, device).load()


@dataclass(frozen=True, slots=True)
class _Loader:
    checkpoint: Checkpoint
    config: DecoderConfig
    factory: LinearFactory
    dtype: torch.dtype
    device: torch.device

    def load(self) -> DecoderWeights:
        layers = tuple(self._layer(index) for index in range(len(self.config.layers)))
        shape = (self.config.vocab_size, self.config.hidden_size)
        vectors = self.checkpoint.decoder("embed_tokens.weight", shape).to(self.device, self.dtype)
        head = vectors if self.config.tied else self._head(shape)
        return DecoderWeights(
            embedding=DenseEmbedding(vectors, shared=self.config.tied),
            layers=layers,
            norm=self._norm("norm"),
            head=DenseLinear(head),
            dtype=self.dtype,
            device=self.device,
        )

    def _head(self, shape: tuple[int, int]) -> Tensor:
        return self.checkpoint.head(shape).to(self.device, self.dtype)

    def _layer(self, index: int) -> LayerWeights:
        config, prefix = self.config, f"layers.{index}."
        down_shape = (config.hidden_size, config.intermediate_size)
        middle = "pre_feedforward_layernorm" if config.post_norms else "post_attention_layernorm"
        return LayerWeights(
            qkv=self._qkv(f"{prefix}self_attn."),
            output=self._single(f"{prefix}self_attn.o_proj", self._output_shape(), config.output_bias),
            gate_up=self._gate_up(f"{prefix}mlp."),
            down=self._single(f"{prefix}mlp.down_proj", down_shape, config.mlp_bias),
            attention_norm=self._norm(f"{prefix}input_layernorm"),
            mlp_norm=self._norm(prefix + middle),
            attention_post_norm=self._norm(f"{prefix}post_attention_layernorm") if config.post_norms else None,
            mlp_post_norm=self._norm(f"{prefix}post_feedforward_layernorm") if config.post_norms else None,
            qk_norm=self._qk_norm(f"{prefix}self_attn.") if config.qk_norm else None,
        )

    def _output_shape(self) -> tuple[int, int]:
        return self.config.hidden_size, self.config.heads * self.config.head_dim

    def _qkv(self, prefix: str) -> Linear:
        sizes = self.config.qkv_sizes
        rows = dict(zip(("q_proj", "k_proj", "v_proj"), sizes, strict=True))
        return self._fused(prefix, {"qkv_proj": sum(sizes)} if self.config.fused else rows, self.config.qkv_bias)

    def _gate_up(self, prefix: str) -> Linear:
        size = self.config.intermediate_size
        rows = {"gate_up_proj": 2 * size} if self.config.fused else {"gate_proj": size, "up_proj": size}
        return self._fused(prefix, rows, self.config.mlp_bias)

    def _fused(self, prefix: str, rows: dict[str, int], bias: bool) -> Linear:
        columns = self.config.hidden_size
        weights = [self.checkpoint.decoder(f"{prefix}{name}.weight", (n, columns)) for name, n in rows.items()]
        biases = [self.checkpoint.decoder(f"{prefix}{name}.bias", (n,)) for name, n in rows.items()] if bias else []
        return self.factory(weights, biases)

    def _single(self, name: str, shape: tuple[int, int], bias: bool) -> Linear:
        biases = [self.checkpoint.decoder(f"{name}.bias", shape[:1])] if bias else []
        return self.factory([self.checkpoint.decoder(f"{name}.weight", shape)], biases)

    def _norm(self, name: str, size: int | None = None) -> Tensor:
        stored = self.checkpoint.decoder(f"{name}.weight", (size or self.config.hidden_size,))
        # Added in float32: in 16 bits 1 + w would lose what the small w says.
        return (stored.to(self.device, torch.float32) + self.config.norm_offset).contiguous()

    def _qk_norm(self, prefix: str) -> Tensor:
        return torch.stack(list(self._qk_rows(prefix)))

    def _qk_rows(self, prefix: str) -> Iterator[Tensor]:
        for name, count in (("q_norm", self.config.heads), ("k_norm", self.config.kv_heads)):
            weight = self._norm(prefix + name, self.config.head_dim)
            yield from (weight for _ in range(count))
