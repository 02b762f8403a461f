"""Texts in forty scripts, code, emoji and oddities have the ids that transformers and SentencePiece give them.

The tokenizers of other people's libraries are built from the same vocabulary by their own code: GPT2Tokenizer,
Qwen2Tokenizer, CohereTokenizer (single digits), LlamaTokenizer, GemmaTokenizer, and the SentencePiece library itself.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import gguf
import pytest
import sentencepiece
import tokenizers
import transformers
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from transformers.tokenization_utils_base import generate_merges

from engine.chat import RequestHandle
from engine.errors import UnsupportedModel
from engine.models.pre_tokenizers import pre_tokenizer
from engine.models.registry import Registry
from engine.models.sentencepiece_model import convert_sentencepiece
from engine.paths import Paths
from engine.tokenizer import Tokenizer, load_tokenizer
from tests.engine.models.gguf_files import finish, write_gguf

TinyModel = Callable[..., Path]
KINDS: Final[Mapping[str, Mapping[str, str]]] = json.loads(
    (Path(__file__).parents[2] / "data" / "texts.json").read_text(encoding="utf-8")
)
TEXTS: Final = {f"{kind}: {name}": text for kind, texts in KINDS.items() for name, text in texts.items()}
PROSE: Final = [text for name, text in TEXTS.items() if not name.startswith("odd")]
ODD_TO_SENTENCEPIECE: Final = ("odd: control", "odd: special")  # a C string ends, and control tokens are text to it


def test_the_texts_are_what_they_are_meant_to_be() -> None:
    assert len(KINDS["scripts"]) >= 30 and len(KINDS["code"]) >= 5 and len(KINDS["emoji"]) >= 5


def different(ids: Callable[[str], list[int]], expected: Callable[[str], list[int]]) -> list[str]:
    """Names of the texts to which the two give other ids."""
    return [name for name, text in TEXTS.items() if ids(text) != expected(text)]


def not_given_back(tokenizer: Tokenizer) -> list[str]:
    """Names of the texts that decoding does not bring back."""
    return [name for name, text in TEXTS.items() if tokenizer.decode_all(tokenizer.encode(text)) != text]


def of_transformers(tokenizer: Any) -> Callable[[str], list[int]]:
    return lambda text: list(tokenizer(text, add_special_tokens=False).input_ids)


@pytest.fixture(scope="module")
def byte_level() -> tokenizers.Tokenizer:
    """A byte-level BPE trained on the texts, cut as Qwen2 cuts them; the merges depend on nothing else."""
    made = tokenizers.Tokenizer(BPE())
    cutter = pre_tokenizer("qwen2")
    assert cutter is not None
    made.pre_tokenizer = cutter
    trainer = BpeTrainer(
        vocab_size=1500, initial_alphabet=sorted(ByteLevel.alphabet()), special_tokens=["<|endoftext|>", "<|im_end|>"]
    )
    made.train_from_iterator(PROSE, trainer)
    return made


THEIRS: Final[Mapping[str, tuple[str, Any]]] = {
    "GPT-2": ("gpt-2", transformers.GPT2Tokenizer),
    "Qwen 2 and 3": ("qwen2", transformers.Qwen2Tokenizer),
}


@pytest.mark.parametrize("name", THEIRS)
def test_byte_level_tokenizers_give_the_ids_of_transformers(
    name: str, byte_level: tokenizers.Tokenizer, tiny_model: TinyModel, tmp_path: Path, loquat_home: Paths
) -> None:
    pre, theirs = THEIRS[name]
    about = json.loads(byte_level.to_str())["model"]
    reference = theirs(vocab=about["vocab"], merges=[tuple(pair) for pair in about["merges"]])
    source = tiny_model("qwen2", vocab_size=1500)
    file = write_gguf(source, tmp_path / "tiny.gguf", tokenizer=_byte_level(about, pre))
    from_gguf = load_tokenizer(_imported(file, loquat_home, "gguf"))
    assert different(from_gguf.encode, of_transformers(reference)) == []
    composed = [name for name, text in TEXTS.items() if unicodedata.normalize("NFC", text) != text]
    assert not_given_back(from_gguf) == (composed if pre == "qwen2" else [])  # Qwen brings text into one form first
    folder = _folder(source, tmp_path / "folder", reference)
    from_folder = load_tokenizer(_imported(folder, loquat_home, "folder"))
    assert different(from_folder.encode, of_transformers(reference)) == []


def _byte_level(about: Mapping[str, Any], pre: str) -> Callable[[gguf.GGUFWriter, int], None]:
    words = sorted(about["vocab"], key=about["vocab"].__getitem__)

    def write(writer: gguf.GGUFWriter, size: int) -> None:
        padding = [f"[PAD{n}]" for n in range(len(words), size)]
        control = [gguf.TokenType.CONTROL] * 2
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(pre)
        writer.add_token_list([*words, *padding])
        normal = [gguf.TokenType.NORMAL] * (len(words) - 2)
        writer.add_token_types([*control, *normal, *([gguf.TokenType.UNUSED] * len(padding))])
        writer.add_token_merges([" ".join(pair) for pair in about["merges"]])
        writer.add_eos_token_id(1)

    return write


def _folder(model: Path, folder: Path, tokenizer: Any) -> Path:
    """A model's folder with another tokenizer, as transformers saves it."""
    folder.mkdir()
    for name in ("config.json", "model.safetensors", "generation_config.json"):
        (folder / name).write_bytes((model / name).read_bytes())
    tokenizer.save_pretrained(folder)
    return folder


def _imported(source: Path, home: Paths, name: str) -> Path:
    return finish(Registry(home.models).add(source, RequestHandle("add"), name)).folder


def trained(folder: Path, **options: Any) -> Path:
    """A SentencePiece model of the texts; the same in every run."""
    folder.mkdir(exist_ok=True)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for text in PROSE for line in text.splitlines() if line.strip()] * 3),
        model_prefix=str(folder / "tokenizer"),
        byte_fallback=True,
        character_coverage=0.98,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        num_threads=1,
        minloglevel=2,
        **{"model_type": "bpe", "vocab_size": 1600, "pad_id": -1, **options},
    )
    return folder / "tokenizer.model"


LLAMA: Final[dict[str, Any]] = {}
GEMMA: Final[dict[str, Any]] = {
    "add_dummy_prefix": False,
    "pad_id": 0,
    "eos_id": 1,
    "bos_id": 2,
    "unk_id": 3,
    "pad_piece": "<pad>",
    "bos_piece": "<bos>",
    "eos_piece": "<eos>",
    "user_defined_symbols": ["\n", "\n\n", *("\u2581" * n for n in range(2, 32)), "<start_of_turn>", "<end_of_turn>"],
}
SENTENCEPIECES: Final[Mapping[str, tuple[dict[str, Any], str, Any]]] = {
    "Llama": (LLAMA, "llama", transformers.LlamaTokenizer),
    "Gemma": (GEMMA, "gemma3", transformers.GemmaTokenizer),
}


@pytest.mark.parametrize("name", SENTENCEPIECES)
def test_sentencepiece_tokenizers_give_the_ids_of_their_library_and_of_transformers(
    name: str, tiny_model: TinyModel, tmp_path: Path, loquat_home: Paths
) -> None:
    options, architecture, theirs = SENTENCEPIECES[name]
    path = trained(tmp_path / "trained", **options)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    converted = Tokenizer(convert_sentencepiece(path, architecture, False), {}, frozenset())
    unlike = different(converted.encode, processor.encode)
    assert set(unlike) <= set(ODD_TO_SENTENCEPIECE)
    assert set(not_given_back(converted)) <= {"odd: special"}  # which has SentencePiece's own sign for a space
    pieces = {processor.id_to_piece(index): index for index in range(processor.get_piece_size())}
    reference = theirs(vocab=pieces, merges=generate_merges(pieces))
    unlike = different(converted.encode, of_transformers(reference))
    # transformers' own LlamaTokenizer puts no space in front of a text that begins with one; SentencePiece does.
    begun = [name for name, text in TEXTS.items() if text[:1] == " " and options is LLAMA]
    assert set(unlike) <= {*ODD_TO_SENTENCEPIECE, *begun}
    source = tiny_model("llama" if name == "Llama" else "gemma3_text", vocab_size=1600)
    file = write_gguf(source, tmp_path / "tiny.gguf", tokenizer=_sentencepiece(processor, options))
    from_gguf = load_tokenizer(_imported(file, loquat_home, "gguf"))
    assert different(from_gguf.encode, converted.encode) == []


def _sentencepiece(
    processor: sentencepiece.SentencePieceProcessor, options: Mapping[str, Any]
) -> Callable[[gguf.GGUFWriter, int], None]:
    """The vocabulary as llama.cpp's conversion script writes it."""
    symbols = options.get("user_defined_symbols", [])
    pieces = [processor.id_to_piece(index) for index in range(processor.get_piece_size())]

    def kind(index: int) -> gguf.TokenType:
        if processor.is_unknown(index):
            return gguf.TokenType.UNKNOWN
        if processor.is_control(index):
            return gguf.TokenType.CONTROL
        if processor.is_byte(index):
            return gguf.TokenType.BYTE
        return gguf.TokenType.USER_DEFINED if pieces[index] in symbols else gguf.TokenType.NORMAL

    def write(writer: gguf.GGUFWriter, size: int) -> None:
        assert size == len(pieces)
        spelled = [piece.replace("\u2581", " ") if piece in symbols else piece for piece in pieces]
        writer.add_tokenizer_model("llama")
        writer.add_token_list(spelled)
        writer.add_token_scores([processor.get_score(index) for index in range(size)])
        writer.add_token_types([kind(index) for index in range(size)])
        writer.add_bos_token_id(processor.bos_id())
        writer.add_eos_token_id(processor.eos_id())
        writer.add_unk_token_id(processor.unk_id())
        writer.add_add_bos_token(False)
        writer.add_add_space_prefix(options.get("add_dummy_prefix", True))

    return write


def test_a_unigram_model_is_refused_rather_than_read_wrongly(tmp_path: Path) -> None:
    path = trained(tmp_path / "trained", model_type="unigram", vocab_size=1000)
    with pytest.raises(UnsupportedModel, match="of a kind that is not supported"):
        convert_sentencepiece(path, "llama", False)


@pytest.mark.model
def test_the_default_model_gives_the_ids_of_transformers(model_home: Paths) -> None:
    """SmolLM2's own tokenizer.json cuts texts into single digits first, and then as GPT-2 does."""
    folder = Registry(model_home.models).find(None).folder
    ours = load_tokenizer(folder)
    reference = transformers.AutoTokenizer.from_pretrained(folder)
    assert different(ours.encode, of_transformers(reference)) == []
    assert not_given_back(ours) == []
    vocabulary = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    merges: list[Any] = [tuple(pair) for pair in vocabulary["merges"]]
    single = transformers.GPT2Tokenizer(vocab=vocabulary["vocab"], merges=merges, add_prefix_space=False)
    plain = {name: text for name, text in TEXTS.items() if not any(c.isnumeric() for c in text) and "<|" not in text}
    assert len(plain) > 60
    assert [name for name, text in plain.items() if ours.encode(text) != of_transformers(single)(text)] == []
