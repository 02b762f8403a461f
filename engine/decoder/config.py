"""What a decoder computes, read from a model folder's config.json."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from engine.decoder.families import FAMILIES, Family
from engine.decoder.rope import RopeConfig
from engine.errors import BadModelFile, UnsupportedModel
from engine.formats import MOST_LAYERS

Activation = Literal["silu", "gelu", "gelu_tanh"]
ACTIVATIONS: Final[Mapping[str, Activation]] = {
    "silu": "silu",
    "swish": "silu",
    "gelu": "gelu",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_new": "gelu_tanh",
}


@dataclass(frozen=True, slots=True)
class LayerConfig:
    """What differs from layer to layer.

    Attributes:
        window: Tokens that a query sees, its own included; None sees all.
        rope: Index into DecoderConfig.ropes; None leaves positions out (NoPE, Kazemnejad et al. 2023).
    """

    window: int | None
    rope: int | None


@dataclass(frozen=True, slots=True)
class DecoderConfig:
    """A decoder-only transformer of the Llama family and its relatives.

    Attributes:
        family: A key of FAMILIES, "llama" for example.
        context_limit: Most tokens of a sequence.
        stated_context: The same as the config.json has it; more where the position embedding would change.
        heads, kv_heads: Query heads, and key/value heads they share.
        norm_eps: Added to the mean square in every RMS norm.
        norm_offset: Added to the stored norm weights (1 for Gemma).
        post_norms: Norms also after attention and after the MLP (Gemma).
        qk_norm: A norm over each query and key head.
        attention_scale: Multiplies query-key products.
        attention_softcap, logit_softcap: cap * tanh(x / cap) on scores and logits; None for none.
        embedding_scale, residual_scale, logit_scale: Multiply token vectors, what each half layer adds, and logits.
        qkv_bias, output_bias, mlp_bias: Which linears add a bias.
        fused: The checkpoint stores QKV and gate/up as one matrix each (Phi-3).
        tied: The head is the embedding.
    """

    family: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    heads: int
    kv_heads: int
    head_dim: int
    context_limit: int
    stated_context: int
    layers: tuple[LayerConfig, ...]
    ropes: tuple[RopeConfig, ...]
    activation: Activation
    norm_eps: float
    norm_offset: float
    post_norms: bool
    qk_norm: bool
    attention_scale: float
    attention_softcap: float | None
    logit_softcap: float | None
    embedding_scale: float
    residual_scale: float
    logit_scale: float
    qkv_bias: bool
    output_bias: bool
    mlp_bias: bool
    fused: bool
    tied: bool

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DecoderConfig:
        """Read a parsed config.json, in the format of transformers 5 or the one before it.

        Raises:
            UnsupportedModel: An architecture or variant that this decoder does not compute.
            BadModelFile: A value is missing or makes no sense.
        """
        family_name = str(data.get("model_type", ""))
        if family_name in MULTIMODAL:
            text = data.get("text_config")
            return cls.from_json({**(text if isinstance(text, dict) else {}), "model_type": MULTIMODAL[family_name]})
        family = FAMILIES.get(family_name)
        if family is None:
            raise UnsupportedModel(f'The fast decoder does not know the architecture "{family_name}".')
        if data.get("quantization_config"):
            raise UnsupportedModel("The fast decoder does not read weights quantised this way.", str(data))
        if data.get("use_bidirectional_attention"):
            raise UnsupportedModel("The fast decoder does not compute attention in both directions.", family_name)
        try:
            config = _read(family_name, family, {**family.defaults, **data})
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise BadModelFile(
                "The model's config.json is incomplete or damaged; get the model again.", repr(error)
            ) from error
        _check(config)
        return config

    @property
    def groups(self) -> int:
        """Query heads per key/value head."""
        return self.heads // self.kv_heads

    @property
    def qkv_sizes(self) -> tuple[int, int, int]:
        """Rows of the query, key and value parts of the fused matrix."""
        return self.heads * self.head_dim, self.kv_heads * self.head_dim, self.kv_heads * self.head_dim


SIZES_REFUSED: Final = "The sizes in the model's config.json do not fit together; get the model again."
MULTIMODAL: Final[Mapping[str, str]] = {"gemma3": "gemma3_text"}


def _read(name: str, family: Family, data: Mapping[str, Any]) -> DecoderConfig:
    heads, hidden = int(data["num_attention_heads"]), int(data["hidden_size"])
    head_dim = int(data.get("head_dim") or hidden // heads)
    context = int(data["max_position_embeddings"])
    types = _layer_types(family, data)
    ropes, rope_of = _ropes(family, data, types, head_dim)
    limits = [rope.context_limit for rope in ropes if rope.context_limit is not None]
    return DecoderConfig(
        family=name,
        vocab_size=int(data["vocab_size"]),
        hidden_size=hidden,
        intermediate_size=int(data["intermediate_size"]),
        heads=heads,
        kv_heads=int(data.get("num_key_value_heads") or heads),
        head_dim=head_dim,
        context_limit=min([context, *limits]),
        stated_context=context,
        layers=_layers(family, data, types, rope_of),
        ropes=ropes,
        activation=_activation(str(data.get("hidden_activation") or data["hidden_act"])),
        norm_eps=float(data["rms_norm_eps"]),
        norm_offset=1.0 if family.gemma else 0.0,
        post_norms=family.gemma,
        qk_norm=family.qk_norm,
        attention_scale=_attention_scale(data, head_dim),
        attention_softcap=_optional(data.get("attn_logit_softcapping")) if family.attention_softcap else None,
        logit_softcap=_optional(data.get("final_logit_softcapping")),
        embedding_scale=hidden**0.5 if family.gemma else float(data.get("embedding_multiplier", 1.0)),
        residual_scale=float(data.get("residual_multiplier", 1.0)),
        logit_scale=1.0 / float(data.get("logits_scaling", 1.0)),
        qkv_bias=family.qkv_bias or bool(data["attention_bias"]),
        output_bias=bool(data["attention_bias"]),
        mlp_bias=bool(data["mlp_bias"]),
        fused=family.fused,
        tied=bool(data["tie_word_embeddings"]),
    )


def _optional(value: float | None) -> float | None:
    return None if value is None else float(value)


def _attention_scale(data: Mapping[str, Any], head_dim: int) -> float:
    if "attention_multiplier" in data:
        return float(data["attention_multiplier"])
    return 1.0 / math.sqrt(float(data.get("query_pre_attn_scalar") or head_dim))


def _activation(name: str) -> Activation:
    if name not in ACTIVATIONS:
        raise UnsupportedModel(f"The fast decoder does not know the activation {name}.")
    return ACTIVATIONS[name]


def _layer_types(family: Family, data: Mapping[str, Any]) -> tuple[str, ...]:
    """The kind of each layer: "full_attention" or "sliding_attention"."""
    count = int(data["num_hidden_layers"])
    if count > MOST_LAYERS:
        raise BadModelFile(SIZES_REFUSED, f"{count} layers")
    stated = data.get("layer_types")
    if stated is None or family.layering != "stated":
        return tuple("sliding_attention" if family.slides(i, data) else "full_attention" for i in range(count))
    if len(stated) < count or not set(stated) <= {"full_attention", "sliding_attention"}:
        raise UnsupportedModel("The fast decoder does not know this model's kinds of layers.", str(stated))
    return tuple(stated[:count])


def _layers(
    family: Family, data: Mapping[str, Any], types: tuple[str, ...], rope_of: Mapping[str, int]
) -> tuple[LayerConfig, ...]:
    window = int(data["sliding_window"]) if "sliding_attention" in types else None
    return tuple(
        LayerConfig(
            window=window if kind == "sliding_attention" else None,
            rope=rope_of[kind] if family.rotates(index, data) else None,
        )
        for index, kind in enumerate(types)
    )


def _ropes(
    family: Family, data: Mapping[str, Any], types: tuple[str, ...], head_dim: int
) -> tuple[tuple[RopeConfig, ...], dict[str, int]]:
    """The distinct rotary embeddings, and which of them each kind of layer uses."""
    context = int(data["max_position_embeddings"])
    found: list[RopeConfig] = []
    rope_of = {}
    for kind in sorted(set(types)):
        parameters = family.rope_parameters(kind, data)
        rope = RopeConfig.from_json(parameters, head_dim=head_dim, context=context)
        if rope not in found:
            found.append(rope)
        rope_of[kind] = found.index(rope)
    return tuple(found), rope_of


def _check(config: DecoderConfig) -> None:
    sizes = (config.vocab_size, config.hidden_size, config.intermediate_size, config.head_dim, config.context_limit)
    sound = (
        min(*sizes, config.heads, config.kv_heads) > 0
        and config.layers
        and config.heads % config.kv_heads == 0
        and all(layer.window is None or layer.window > 0 for layer in config.layers)
        and all(rope.fits(config.head_dim) for rope in config.ropes)
        and all(math.isfinite(number) for number in _multipliers(config))
    )
    if not sound:
        raise BadModelFile(SIZES_REFUSED, str(config))


def _multipliers(config: DecoderConfig) -> tuple[float, ...]:
    caps = (config.attention_softcap or 0.0, config.logit_softcap or 0.0)
    return (
        *(config.norm_eps, config.attention_scale, config.embedding_scale, config.residual_scale, config.logit_scale),
        *caps,
    )
