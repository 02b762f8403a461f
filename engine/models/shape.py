"""What a model will take in memory, read from its config.json and the headers of its weights: nothing is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engine.errors import BadModelFile
from engine.formats import Format
from engine.memory import Footprint
from engine.models.model_folder import CONFIG, WEIGHTS, WEIGHTS_INDEX, read_object
from engine.models.safetensors_file import TensorEntry, read_entries

_ITEM_BYTES: Final[Mapping[str, int]] = {"float32": 4, "bfloat16": 2, "float16": 2}
# Bits of a number in a matrix of a layer (scales included), in the embedding and the head, and anywhere else.
_BITS: Final[Mapping[tuple[str, str], tuple[float, float, float]]] = {
    ("kernels", "int4"): (5, 8.5, 32),
    ("kernels", "int8"): (8.5, 8.5, 32),
    ("bitsandbytes", "nf4"): (4.5, 16, 16),
    ("bitsandbytes", "int8"): (8, 16, 16),
}
# Measured beside SmolLM2: Numba, LLVM and the kernels' machine code; buffers of torch's CPU libraries.
_CODE: Final[Mapping[str, int]] = {"kernels": 120 << 20, "torch": 40 << 20}
_EMBEDDINGS: Final = ("embed_tokens.weight", "lm_head.weight", "wte.weight", "embeddings.weight")
_FLOATS: Final = ("F64", "F32", "F16", "BF16")
_ATTENTION: Final = ("full_attention", "sliding_attention", "chunked_attention")
_DEFAULT_CONTEXT: Final = 2048


@dataclass(frozen=True, slots=True)
class ModelShape:
    """The sizes of a model.

    Attributes:
        matrices, embeddings, vectors: Numbers stored as floating point in each kind of weight; they are converted when
            loaded. The head counts as an embedding.
        integer_bytes: Bytes of weights stored as integers, which are held as they are.
        packed_bytes: By format, bytes of the weights that are packed for the CPU kernels already.
        layers: With a KV cache; others hold a state of fixed size.
        heads, kv_heads, head_dim, hidden, intermediate, vocabulary: As in config.json.
        context_limit: Tokens.
        softcapped: Whether attention scores are capped (Gemma 2), for which they are written out.
    """

    matrices: int
    embeddings: int
    vectors: int
    integer_bytes: int
    packed_bytes: Mapping[str, int]
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    intermediate: int
    vocabulary: int
    context_limit: int
    softcapped: bool

    def weights(self, held: Format) -> int:
        """Bytes of the weights in a format: of the file where they are packed already, else by the bit."""
        if held.path == "kernels" and held.name in self.packed_bytes:
            return self.packed_bytes[held.name]
        same = 8.0 * _ITEM_BYTES[held.compute]
        matrix, embedding, vector = _BITS.get((held.path, held.name), (same, same, same))
        bits = self.matrices * matrix + self.embeddings * embedding + self.vectors * vector
        return int(bits / 8) + self.integer_bytes

    def footprint(self, label: str, held: Format, chunk: int, kv_dtype: str | None = None) -> Footprint:
        """What it takes.

        Args:
            label: For people.
            held: How the weights are held.
            chunk: Most tokens prefilled at a time.
            kv_dtype: Of cached keys and values, a key of `engine.memory.KV_DTYPES`; None takes the runner's own.
        """
        item = _ITEM_BYTES[held.compute]
        attention = (self.heads + 2 * self.kv_heads) * self.head_dim
        return Footprint(
            label=label,
            weights=self.weights(held),
            code=0 if held.device == "cuda" else _CODE.get(held.path, 0),
            kv_rows=2 * self.layers * self.kv_heads,
            head_dim=self.head_dim,
            kv_dtype=kv_dtype or ("float16" if held.path == "kernels" else held.compute),
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
    packed = {name: sum(entry.nbytes for entry in of) for name, of in _packed(folder)}
    try:
        return _shape(config or outer, entries, packed)
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        sentence = f"The sizes in the config.json of {folder.name} make no sense; get the model again."
        raise BadModelFile(sentence, repr(error)) from error


def _shape(config: Mapping[str, Any], entries: list[TensorEntry], packed: Mapping[str, int]) -> ModelShape:
    hidden = int(_named(config, "hidden_size", "n_embd", "d_model"))
    heads = int(_named(config, "num_attention_heads", "n_head", "n_heads") or 0)  # none in a pure state-space model
    return ModelShape(
        **_numbers([entry for entry in entries if entry.dtype in _FLOATS]),
        integer_bytes=sum(entry.nbytes for entry in entries if entry.dtype not in _FLOATS),
        packed_bytes=packed,
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


def _numbers(floats: list[TensorEntry]) -> dict[str, int]:
    counts = {"matrices": 0, "embeddings": 0, "vectors": 0}
    for entry in floats:
        embedding = entry.name.endswith(_EMBEDDINGS)
        counts["vectors" if len(entry.shape) < 2 else "embeddings" if embedding else "matrices"] += entry.elements
    return counts


def _named(config: Mapping[str, Any], *names: str) -> Any:  # noqa: ANN401 - any JSON value
    """A value by the first of its names that is there: older architectures call it otherwise. None if none is."""
    return next((config[name] for name in names if name in config), None)


def _cached_layers(config: Mapping[str, Any]) -> int:
    count, kinds = int(_named(config, "num_hidden_layers", "n_layer", "n_layers")), config.get("layer_types")
    return sum(kind in _ATTENTION for kind in kinds[:count]) if kinds else count


def _packed(folder: Path) -> Iterator[tuple[str, list[TensorEntry]]]:
    for file in sorted(folder.glob("packed-*.safetensors")):
        yield file.stem.removeprefix("packed-"), read_entries(file)


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
