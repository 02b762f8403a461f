"""How the families that the decoder computes differ from Llama, one entry each.

`defaults` are what transformers assumes where a config.json leaves a value out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal


@dataclass(frozen=True, slots=True)
class Family:
    """One architecture.

    Attributes:
        defaults: Values a config.json may leave out.
        layering: Layers are all "full", all see a "window" if there is one, or are as `layer_types` has "stated".
        gemma: Norm weights count from 1, norms after each half layer, token vectors times sqrt(hidden_size).
        qk_norm: A norm over each query and key head.
        attention_softcap: Whether `attn_logit_softcapping` is heeded.
        qkv_bias: Queries, keys and values always have a bias.
        fused: QKV and gate/up are stored as one matrix each.
        theta: Base wavelength of the rotary embedding if none is stated.
        local_theta: The same for sliding layers, where they have their own.
    """

    defaults: Mapping[str, Any] = field(default_factory=dict)
    layering: Literal["full", "window", "stated"] = "stated"
    gemma: bool = False
    qk_norm: bool = False
    attention_softcap: bool = False
    qkv_bias: bool = False
    fused: bool = False
    theta: float = 10_000.0
    local_theta: float | None = None

    def slides(self, index: int, data: Mapping[str, Any]) -> bool:
        """Whether layer `index` sees a window only, where `layer_types` does not say."""
        if self.layering == "full" or data.get("sliding_window") is None or not data.get("use_sliding_window", True):
            return False
        if "sliding_window_pattern" in data:
            return (index + 1) % int(data["sliding_window_pattern"]) != 0
        if "no_rope_layers" in data:
            return not self.rotates(index, data)
        return index >= int(data.get("max_window_layers", 0))

    def rotates(self, index: int, data: Mapping[str, Any]) -> bool:
        """Whether layer `index` has a rotary embedding."""
        if "no_rope_layers" not in data:
            return True
        stated = data["no_rope_layers"]
        if stated is not None:
            return bool(stated[index])
        return (index + 1) % int(data["no_rope_layer_interval"]) != 0

    def rope_parameters(self, kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """The rotary embedding of layers of `kind`, in the form of transformers 5: one dict with `rope_theta`."""
        stated = data.get("rope_scaling") or data.get("rope_parameters") or {}
        nested = "full_attention" in stated or "sliding_attention" in stated
        if nested:
            stated = stated.get(kind) or {}
        local = kind == "sliding_attention" and self.local_theta is not None
        if local and not nested:
            stated = {}  # before transformers 5, scaling was for the full layers only
        theta = data.get("rope_local_base_freq", self.local_theta) if local else data.get("rope_theta", self.theta)
        parameters = {
            "rope_theta": theta,
            "partial_rotary_factor": data.get("partial_rotary_factor"),
            **{key: value for key, value in stated.items() if value is not None},
        }
        if self.fused:
            self._adapt_phi3(parameters, data)
        return parameters

    @staticmethod
    def _adapt_phi3(parameters: dict[str, Any], data: Mapping[str, Any]) -> None:
        """Phi-3 keeps its original context beside the scaling, and had two older names for longrope."""
        parameters["original_max_position_embeddings"] = data["original_max_position_embeddings"]
        kind = parameters.get("rope_type") or parameters.get("type")
        if kind in ("su", "yarn"):
            parameters["rope_type"] = "longrope"


_COMMON: Final = {
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "tie_word_embeddings": False,
    "attention_bias": False,
    "mlp_bias": False,
}
_LLAMA: Final = {**_COMMON, "max_position_embeddings": 2048}
_QWEN: Final = {
    **_COMMON,
    "num_key_value_heads": 32,
    "max_position_embeddings": 32_768,
    "use_sliding_window": False,
    "sliding_window": 4096,
    "max_window_layers": 28,
}
_GEMMA: Final = {
    **_COMMON,
    "hidden_size": 2304,
    "intermediate_size": 9216,
    "num_hidden_layers": 26,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "hidden_activation": "gelu_pytorch_tanh",
    "query_pre_attn_scalar": 256,
    "sliding_window": 4096,
    "tie_word_embeddings": True,
}

FAMILIES: Final[Mapping[str, Family]] = {
    "llama": Family(_LLAMA, layering="full"),
    "mistral": Family(
        {**_COMMON, "num_key_value_heads": 8, "max_position_embeddings": 131_072, "sliding_window": 4096},
        layering="window",
    ),
    "qwen2": Family(_QWEN, qkv_bias=True),
    "qwen3": Family({**_QWEN, "head_dim": 128}, qk_norm=True),
    "gemma2": Family(
        {
            **_GEMMA,
            "vocab_size": 256_000,
            "max_position_embeddings": 8192,
            "sliding_window_pattern": 2,
            "attn_logit_softcapping": 50.0,
            "final_logit_softcapping": 30.0,
        },
        gemma=True,
        attention_softcap=True,
    ),
    "gemma3_text": Family(
        {**_GEMMA, "vocab_size": 262_208, "max_position_embeddings": 131_072, "sliding_window_pattern": 6},
        gemma=True,
        qk_norm=True,
        theta=1_000_000.0,
        local_theta=10_000.0,
    ),
    "phi3": Family(
        {
            **_COMMON,
            "rms_norm_eps": 1e-5,
            "max_position_embeddings": 4096,
            "original_max_position_embeddings": 4096,
            "sliding_window": None,
        },
        layering="window",
        fused=True,
    ),
    "smollm3": Family(
        {
            **_COMMON,
            "num_key_value_heads": 4,
            "max_position_embeddings": 32_768,
            "use_sliding_window": False,
            "sliding_window": None,
            "no_rope_layers": None,
            "no_rope_layer_interval": 4,
            "tie_word_embeddings": True,
        },
        theta=2_000_000.0,
    ),
    "granite": Family(
        {
            **_LLAMA,
            "embedding_multiplier": 1.0,
            "residual_multiplier": 1.0,
            "attention_multiplier": 1.0,
            "logits_scaling": 1.0,
        },
        layering="full",
    ),
}
