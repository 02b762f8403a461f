"""What a model will take in memory, read from its config.json and the headers of its weights: nothing is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
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
# Measured beside six models (tests/bench/fit.py): Numba, LLVM and the kernels' machine code; buffers of torch's CPU
# libraries. Those are pages of files: 112 MiB where the system has them in small pieces, 168 where they were just
# installed and lie in large ones; the middle is planned. The session that compiles the kernels holds some 200 MiB more.
_CODE: Final[Mapping[str, int]] = {"kernels": 140 << 20, "torch": 40 << 20}
_WORD: Final = 400  # bytes that a tokenizer takes for each of its words
_TABLE: Final = 2  # a table of cosines or sines while it grows, in its own sizes
_EMBEDDINGS: Final = ("embed_tokens.weight", "lm_head.weight", "wte.weight", "embeddings.weight")
_FLOATS: Final = ("F64", "F32", "F16", "BF16")
_ATTENTION: Final = ("full_attention", "sliding_attention", "chunked_attention")
_DEFAULT_CONTEXT: Final = 2048
# Every so many layers one sees all, where a config.json does not say which; others see a window if they have one.
_FULL_EVERY: Final[Mapping[str, int]] = {"gemma2": 2, "gemma3_text": 6, "gemma3": 6}


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
        ropes: Kinds of position embeddings, each with its tables.
        window: Tokens that layers with a sliding window attend to.
        windowed: How many layers have one.
        unread_bytes: By format, bytes of the packed weights that a decode step does not read: the embedding where the
            head is another matrix.
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
    ropes: int = 1
    window: int = 0
    windowed: int = 0
    unread_bytes: Mapping[str, int] = field(default_factory=dict)

    def step_bytes(self, held: Format) -> int:
        """Bytes of weights that a decode step reads."""
        return self.weights(held) - self.unread_bytes.get(held.name if held.path == "kernels" else "", 0)

    def attended(self, context: int) -> int:
        """Tokens behind, summed over the layers, that a decode step attends to."""
        return context * (self.layers - self.windowed) + min(context, self.window) * self.windowed

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
        fixed, growing = self._kernel_buffers(chunk) if held.path == "kernels" else self._buffers(held, chunk)
        return Footprint(
            label=label,
            weights=self.weights(held),
            code=0 if held.device == "cuda" else _CODE.get(held.path, 0) + _WORD * self.vocabulary,
            kv_rows=2 * self.layers * self.kv_heads,
            head_dim=self.head_dim,
            kv_dtype=kv_dtype or ("float16" if held.path == "kernels" else held.compute),
            context_limit=self.context_limit,
            activations=fixed,
            activations_per_token=growing,
            logits=3 * 4 * self.vocabulary,
        )

    def _buffers(self, held: Format, chunk: int) -> tuple[int, int]:
        """Bytes of the intermediate results of a chunk in torch, and what each token of context adds."""
        item = _ITEM_BYTES[held.compute]
        attention = (self.heads + 2 * self.kv_heads) * self.head_dim
        # Residual stream, norms and sums; QKV as it is, rotated and attended; gate, up, product and its norm.
        fixed = chunk * item * (4 * self.hidden + 3 * attention + 4 * self.intermediate)
        # The mask; where scores are written out also the scores, their exponentials and a copy.
        return fixed, chunk * item * (1 + (3 * self.heads if self.softcapped else 0))

    def _kernel_buffers(self, chunk: int) -> tuple[int, int]:
        """The same of the CPU kernels (`engine.kernels.workspace`), which write no scores out."""
        queries, attention = self.heads * self.head_dim, (self.heads + 2 * self.kv_heads) * self.head_dim
        floats = 2 * self.hidden + attention + 2 * queries
        rounded = self.hidden + queries + self.intermediate  # 16 bits and a scale for every 32 numbers
        partials = self.heads * 4 * (16 + self.head_dim) * 4 // 128  # of four tokens, for every 128 keys
        tables = self.ropes * 2 * 4 * self.head_dim * _TABLE
        return chunk * (4 * floats + 9 * rounded // 4), partials + tables


def read_shape(folder: Path) -> ModelShape:
    """The sizes of the model in a folder.

    Raises:
        BadModelFile: config.json or a weight file is missing, damaged, or makes no sense.
    """
    outer = read_object(folder, CONFIG)
    config = outer.get("text_config") if isinstance(outer.get("text_config"), dict) else outer
    entries = weight_entries(folder)
    packed = dict(_packed(folder))
    sizes = {name: sum(entry.nbytes for entry in of) for name, of in packed.items()}
    unread = {name: sum(entry.nbytes for entry in of if entry.name == "embedding") for name, of in packed.items()}
    try:
        return replace(shape_of(config or outer, entries, sizes), unread_bytes=unread)
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        sentence = f"The sizes in the config.json of {folder.name} make no sense; get the model again."
        raise BadModelFile(sentence, repr(error)) from error


def shape_of(config: Mapping[str, Any], entries: list[TensorEntry], packed: Mapping[str, int]) -> ModelShape:
    """The sizes of a model.

    Args:
        config: Its config.json, without what is around the text model's.
        entries: Its tensors.
        packed: Bytes of its packed weights, by format.

    Raises:
        LookupError, TypeError, ValueError, ArithmeticError: They make no sense.
    """
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
        intermediate=_largest(config.get("intermediate_size")) or 4 * hidden,
        vocabulary=int(config["vocab_size"]),
        context_limit=int(_named(config, "max_position_embeddings", "n_positions") or _DEFAULT_CONTEXT),
        softcapped=bool(config.get("attn_logit_softcapping")),
        ropes=2 if str(config.get("model_type", "")).startswith("gemma3") else 1,
        window=int(config.get("sliding_window") or 0),
        windowed=_windowed_layers(config) if heads else 0,
    )


def _numbers(floats: list[TensorEntry]) -> dict[str, Any]:
    counts = {"matrices": 0, "embeddings": 0, "vectors": 0}
    for entry in floats:
        embedding = entry.name.endswith(_EMBEDDINGS)
        counts["vectors" if len(entry.shape) < 2 else "embeddings" if embedding else "matrices"] += entry.elements
    return counts


def _named(config: Mapping[str, Any], *names: str) -> Any:  # noqa: ANN401 - any JSON value
    """A value by the first of its names that is there: older architectures call it otherwise. None if none is."""
    return next((config[name] for name in names if name in config), None)


def _largest(size: Any) -> int:  # noqa: ANN401 - any JSON value
    """A size, or the largest where each layer has its own; 0 where none is said."""
    return int(max(size, default=0) if isinstance(size, list) else size or 0)


def _cached_layers(config: Mapping[str, Any]) -> int:
    count, kinds = int(_named(config, "num_hidden_layers", "n_layer", "n_layers")), config.get("layer_types")
    return sum(kind in _ATTENTION for kind in kinds[:count]) if kinds else count


def _windowed_layers(config: Mapping[str, Any]) -> int:
    count, kinds = int(_named(config, "num_hidden_layers", "n_layer", "n_layers")), config.get("layer_types")
    if not config.get("sliding_window") or not config.get("use_sliding_window", True):
        return 0
    if kinds:
        return sum(kind == "sliding_attention" for kind in kinds[:count])
    every = config.get("sliding_window_pattern") or _FULL_EVERY.get(str(config.get("model_type")))
    return count - count // int(every) if every else count


def _packed(folder: Path) -> Iterator[tuple[str, list[TensorEntry]]]:
    for file in sorted(folder.glob("packed-*.safetensors")):
        yield file.stem.removeprefix("packed-"), read_entries(file)


def weight_entries(folder: Path) -> list[TensorEntry]:
    """The weights of a model folder, as the headers of its files describe them.

    Raises:
        BadModelFile: A file is missing or damaged.
    """
    files = [folder / WEIGHTS]
    if (folder / WEIGHTS_INDEX).is_file():
        placed = read_object(folder, WEIGHTS_INDEX).get("weight_map")
        names = sorted({str(name) for name in placed.values()}) if isinstance(placed, dict) else []
        files = [folder / Path(name).name for name in names] or files
    try:
        return [entry for file in files for entry in read_entries(file)]
    except OSError as error:
        raise BadModelFile(f"The weights in {folder.name} cannot be read; get the model again.", str(error)) from error
