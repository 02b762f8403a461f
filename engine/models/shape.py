"""What a model will take in memory, read from its config.json and the headers of its weights: nothing is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.errors import BadModelFile
from engine.memory import Footprint
from engine.models.model_folder import CONFIG, read_object
from engine.models.safetensors_file import TensorEntry, read_entries

# How weights are held: bits of a number in a matrix (scales included), and bytes of any other number.
HELD: Final[Mapping[str, tuple[float, int]]] = {
    "float32": (32, 4),
    "bfloat16": (16, 2),
    "float16": (16, 2),
    "q8": (8.5, 4),
    "q4": (5, 4),
}
_FLOATS: Final = ("F64", "F32", "F16", "BF16")
_ATTENTION: Final = ("full_attention", "sliding_attention", "chunked_attention")
_DEFAULT_CONTEXT: Final = 2048


@dataclass(frozen=True, slots=True)
class ModelShape:
    """The sizes of a model.

    Attributes:
        matrices, vectors: Numbers stored as floating point in each; they are converted when loaded.
        packed_bytes: Bytes of everything else (integers), which is held as it is stored.
        layers: With a KV cache; others hold a state of fixed size.
        heads, kv_heads, head_dim, hidden, intermediate, vocabulary: As in config.json.
        context_limit: Tokens.
        softcapped: Whether attention scores are capped (Gemma 2), for which they are written out.
    """

    matrices: int
    vectors: int
    packed_bytes: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    intermediate: int
    vocabulary: int
    context_limit: int
    softcapped: bool

    def weights(self, held: str) -> int:
        """Bytes of the weights, held as a key of HELD says."""
        bits, item = HELD[held]
        return int(self.matrices * bits / 8) + self.vectors * item + self.packed_bytes

    def footprint(self, label: str, held: str, kv_dtype: str, chunk: int) -> Footprint:
        """What it takes.

        Args:
            label: For people.
            held: How the weights are held, a key of HELD.
            kv_dtype: Of cached keys and values, a key of `engine.memory.KV_DTYPES`.
            chunk: Most tokens prefilled at a time.
        """
        item = HELD[held][1]
        attention = (self.heads + 2 * self.kv_heads) * self.head_dim
        return Footprint(
            label=label,
            weights=self.weights(held),
            kv_rows=2 * self.layers * self.kv_heads,
            head_dim=self.head_dim,
            kv_dtype=kv_dtype,
            context_limit=self.context_limit,
            # Residual stream, norms and sums; QKV as it is, rotated and attended; gate, up, product and its norm.
            activations=chunk * item * (4 * self.hidden + 3 * attention + 4 * self.intermediate),
            # The mask; where scores are written out also the scores, their exponentials and a copy.
            activations_per_token=chunk * item * (1 + (3 * self.heads if self.softcapped else 0)),
            logits=3 * 4 * self.vocabulary,
        )


def read_shape(folder: Path) -> ModelShape:
    """The sizes of the model in a folder.

    Raises:
        BadModelFile: config.json or a weight file is missing, damaged, or makes no sense.
    """
    outer = read_object(folder, CONFIG)
    config = outer.get("text_config") if isinstance(outer.get("text_config"), dict) else outer
    entries = _entries(folder)
    floats = [entry for entry in entries if entry.dtype in _FLOATS]
    try:
        return _shape(config or outer, floats, [entry for entry in entries if entry.dtype not in _FLOATS])
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        sentence = f"The sizes in the config.json of {folder.name} make no sense; get the model again."
        raise BadModelFile(sentence, repr(error)) from error


def _shape(config: Mapping[str, Any], floats: list[TensorEntry], packed: list[TensorEntry]) -> ModelShape:
    hidden = int(_named(config, "hidden_size", "n_embd", "d_model"))
    heads = int(_named(config, "num_attention_heads", "n_head", "n_heads") or 0)  # none in a pure state-space model
    return ModelShape(
        matrices=sum(entry.elements for entry in floats if len(entry.shape) > 1),
        vectors=sum(entry.elements for entry in floats if len(entry.shape) <= 1),
        packed_bytes=sum(entry.nbytes for entry in packed),
        layers=_cached_layers(config) if heads else 0,
        heads=heads,
        kv_heads=int(config.get("num_key_value_heads") or heads),
        head_dim=int(config.get("head_dim") or (hidden // heads if heads else 0)),
        hidden=hidden,
        intermediate=int(config.get("intermediate_size") or 4 * hidden),
        vocabulary=int(config["vocab_size"]),
        context_limit=int(_named(config, "max_position_embeddings", "n_positions") or _DEFAULT_CONTEXT),
        softcapped=bool(config.get("attn_logit_softcapping")),
    )


def _named(config: Mapping[str, Any], *names: str) -> Any:  # noqa: ANN401 - any JSON value
    """A value by the first of its names that is there: older architectures call it otherwise. None if none is."""
    return next((config[name] for name in names if name in config), None)


def _cached_layers(config: Mapping[str, Any]) -> int:
    count, kinds = int(_named(config, "num_hidden_layers", "n_layer", "n_layers")), config.get("layer_types")
    return sum(kind in _ATTENTION for kind in kinds[:count]) if kinds else count


def _entries(folder: Path) -> list[TensorEntry]:
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise BadModelFile(f"The folder {folder.name} holds no weights in safetensors, so it is no model.")
    return [entry for file in files for entry in read_entries(file)]
