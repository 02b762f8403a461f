"""What a model will take in memory, read from its config.json and the headers of its weights: nothing is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.errors import BadModelFile
from engine.memory import Footprint
from engine.models.model_folder import CONFIG, WEIGHTS, WEIGHTS_INDEX, read_object
from engine.models.safetensors_file import TensorEntry, read_entries

ITEM_BYTES: Final[Mapping[str, int]] = {"float32": 4, "bfloat16": 2, "float16": 2}
INT4: Final = "int4"  # packed for the CPU kernels, in a file of its own that is mapped as it is
_PACKED: Final = "packed-int4.safetensors"
_FLOATS: Final = ("F64", "F32", "F16", "BF16")
_ATTENTION: Final = ("full_attention", "sliding_attention", "chunked_attention")
_DEFAULT_CONTEXT: Final = 2048


@dataclass(frozen=True, slots=True)
class ModelShape:
    """The sizes of a model.

    Attributes:
        numbers: Weights stored as floating point; they are converted when loaded.
        integer_bytes: Bytes of weights stored as integers, which are held as they are.
        int4_bytes: Bytes of the weights packed for the CPU kernels; None where they are not.
        layers: With a KV cache; others hold a state of fixed size.
        heads, kv_heads, head_dim, hidden, intermediate, vocabulary: As in config.json.
        context_limit: Tokens.
        softcapped: Whether attention scores are capped (Gemma 2), for which they are written out.
    """

    numbers: int
    integer_bytes: int
    int4_bytes: int | None
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
        """Bytes of the weights: packed for the CPU kernels (INT4), or in a dtype of ITEM_BYTES."""
        if held == INT4 and self.int4_bytes is not None:
            return self.int4_bytes
        return self.numbers * ITEM_BYTES.get(held, 4) + self.integer_bytes

    def footprint(self, label: str, held: str, kv_dtype: str, chunk: int) -> Footprint:
        """What it takes.

        Args:
            label: For people.
            held: How the weights are held: INT4, or a key of ITEM_BYTES.
            kv_dtype: Of cached keys and values, a key of `engine.memory.KV_DTYPES`.
            chunk: Most tokens prefilled at a time.
        """
        item = ITEM_BYTES.get(held, 4)
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
    entries, packed = _entries(folder), folder / _PACKED
    int4_bytes = sum(entry.nbytes for entry in read_entries(packed)) if packed.is_file() else None
    try:
        return _shape(config or outer, entries, int4_bytes)
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        sentence = f"The sizes in the config.json of {folder.name} make no sense; get the model again."
        raise BadModelFile(sentence, repr(error)) from error


def _shape(config: Mapping[str, Any], entries: list[TensorEntry], int4_bytes: int | None) -> ModelShape:
    hidden = int(_named(config, "hidden_size", "n_embd", "d_model"))
    heads = int(_named(config, "num_attention_heads", "n_head", "n_heads") or 0)  # none in a pure state-space model
    return ModelShape(
        numbers=sum(entry.elements for entry in entries if entry.dtype in _FLOATS),
        integer_bytes=sum(entry.nbytes for entry in entries if entry.dtype not in _FLOATS),
        int4_bytes=int4_bytes,
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
    files = [folder / WEIGHTS]
    if (folder / WEIGHTS_INDEX).is_file():
        placed = read_object(folder, WEIGHTS_INDEX).get("weight_map")
        names = sorted({str(name) for name in placed.values()}) if isinstance(placed, dict) else []
        files = [folder / Path(name).name for name in names] or files
    try:
        return [entry for file in files for entry in read_entries(file)]
    except OSError as error:
        raise BadModelFile(f"The weights in {folder.name} cannot be read; get the model again.", str(error)) from error
