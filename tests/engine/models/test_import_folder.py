"""Hugging Face folders: what is sound comes in unchanged, what is not gets one sentence."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sentencepiece
import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM, AutoTokenizer

from engine.chat import RequestHandle
from engine.errors import BadModelFile, Cancelled, DiskFull, UnsupportedModel
from engine.models import files
from engine.models.import_folder import import_folder
from engine.models.model_folder import Imported
from tests.engine.models.gguf_files import finish

TinyModel = Callable[..., Path]


@pytest.fixture
def source(tiny_model: TinyModel, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return shutil.copytree(tiny_model("llama"), tmp_path / "My Model ü")


def run_import(source: Path) -> tuple[Path, Imported]:
    folder = source.parent / "imported"
    folder.mkdir()
    return folder, finish(import_folder(source, folder, "Tiny", RequestHandle("test")))


def edit(path: Path, **changes: Any) -> None:
    value = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: item for key, item in value.items() if item is not None}))


def logits(folder: Path) -> torch.Tensor:
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.no_grad():
        return model(torch.arange(3, 40)[None]).logits[0]


def test_a_folder_comes_in_unchanged(source: Path) -> None:
    folder, imported = run_import(source)
    assert torch.equal(logits(folder), logits(source))
    assert imported.architecture == "llama"
    assert imported.parameters == AutoModelForCausalLM.from_pretrained(source).num_parameters()
    theirs, ours = AutoTokenizer.from_pretrained(source), AutoTokenizer.from_pretrained(folder)
    text = "<|im_start|>the 12345 你好 🎉<|im_end|>"
    assert ours(text).input_ids == theirs(text).input_ids
    assert ours.chat_template == theirs.chat_template
    assert json.loads((folder / "generation_config.json").read_text())["eos_token_id"] == [2, 0]


def test_the_weights_are_linked_or_copied(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = run_import(source)
    assert (folder / "model.safetensors").samefile(source / "model.safetensors")
    shutil.rmtree(folder)

    def refuse(*places: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    folder, _ = run_import(source)
    copy, original = folder / "model.safetensors", source / "model.safetensors"
    assert not copy.samefile(original) and copy.read_bytes() == original.read_bytes()


def test_shards_come_in(source: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(source)
    expected = logits(source)
    (source / "model.safetensors").unlink()
    model.save_pretrained(source, max_shard_size="100KB")
    assert len(list(source.glob("*.safetensors"))) > 2
    folder, _ = run_import(source)
    assert torch.equal(logits(folder), expected)


def test_a_template_inside_the_tokenizer_config_comes_out(source: Path) -> None:
    (source / "chat_template.jinja").unlink()
    several = [{"name": "tools", "template": "no"}, {"name": "default", "template": "{{ messages }}"}]
    edit(source / "tokenizer_config.json", chat_template=several)
    folder, _ = run_import(source)
    assert (folder / "chat_template.jinja").read_text() == "{{ messages }}"
    assert "chat_template" not in json.loads((folder / "tokenizer_config.json").read_text())


def test_a_template_that_is_no_text_gets_a_sentence(source: Path) -> None:
    (source / "chat_template.jinja").write_bytes(b"{{ messages }}\xff\xfe")
    with pytest.raises(BadModelFile, match=r"The file chat_template\.jinja in .* cannot be read; get it again"):
        run_import(source)


def with_sentencepiece(source: Path, **options: Any) -> sentencepiece.SentencePieceProcessor:
    """Replace the tokenizer by a SentencePiece model with 290 pieces, as old folders have it."""
    (source / "tokenizer.json").unlink()
    edit(source / "tokenizer_config.json", bos_token="<s>", eos_token="</s>", pad_token=None, add_bos_token=False)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on the mat", "a model reads a prompt"] * 10),
        model_prefix=str(source / "tokenizer"),
        vocab_size=290,
        byte_fallback=True,
        minloglevel=2,
        **{"model_type": "bpe", "normalization_rule_name": "identity", "remove_extra_whitespaces": False, **options},
    )
    return sentencepiece.SentencePieceProcessor(model_file=str(source / "tokenizer.model"))


@pytest.mark.parametrize("prefix", [True, False])
def test_an_old_sentencepiece_tokenizer_is_converted(prefix: bool, source: Path) -> None:
    processor = with_sentencepiece(source, add_dummy_prefix=prefix, user_defined_symbols=[] if prefix else ["<x>"])
    (source / "added_tokens.json").write_text('{"<|user|>": 290}')
    added = {"290": {"content": "<|user|>", "special": True}, "291": {"content": "<|end|>", "special": True}}
    edit(source / "tokenizer_config.json", added_tokens_decoder=added)
    folder, _ = run_import(source)
    ours = AutoTokenizer.from_pretrained(folder)
    for text in ("the cat reads", "ünseen 你 <x> mat", "  a  b\n"):
        assert ours(text).input_ids == processor.encode(text)
    assert ours("<|user|>").input_ids == [290]
    assert ours.decode([290], skip_special_tokens=True) == ""
    assert 291 in json.loads((folder / "generation_config.json").read_text())["eos_token_id"]


def test_a_start_token_is_added_unless_told_otherwise(source: Path) -> None:
    processor = with_sentencepiece(source)
    edit(source / "tokenizer_config.json", add_bos_token=None)
    folder, _ = run_import(source)
    expected = [processor.bos_id(), *processor.encode("the cat")]
    assert AutoTokenizer.from_pretrained(folder)("the cat").input_ids == expected


@pytest.mark.parametrize("options", [{"normalization_rule_name": "nmt_nfkc"}, {"remove_extra_whitespaces": True}])
def test_a_sentencepiece_model_that_would_give_other_ids_is_refused(options: dict[str, Any], source: Path) -> None:
    with_sentencepiece(source, **options)
    with pytest.raises(UnsupportedModel, match=r"tokenizer\.model is of a kind that is not supported"):
        run_import(source)


def test_added_tokens_that_are_no_object_are_passed_over(source: Path) -> None:
    processor = with_sentencepiece(source)
    edit(source / "tokenizer_config.json", added_tokens_decoder=[{"content": "<|user|>"}])
    folder, _ = run_import(source)
    ours = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert ours.encode("the cat").ids == processor.encode("the cat")


def test_added_tokens_that_contradict_are_refused(source: Path) -> None:
    with_sentencepiece(source)
    (source / "added_tokens.json").write_text('{"<|user|>": 295}')
    with pytest.raises(BadModelFile, match="contradict its tokenizer"):
        run_import(source)


@pytest.mark.parametrize("cut", [0, 1, 100, -1])
def test_a_damaged_sentencepiece_model_gets_a_sentence(cut: int, source: Path) -> None:
    with_sentencepiece(source)
    path = source / "tokenizer.model"
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises((BadModelFile, UnsupportedModel)):
        run_import(source)


def test_a_pickle_is_refused_by_name(source: Path) -> None:
    (source / "model.safetensors").rename(source / "pytorch_model.bin")
    with pytest.raises(UnsupportedModel, match=r"pytorch_model\.bin is a Python pickle"):
        run_import(source)


def test_no_weights(source: Path) -> None:
    (source / "model.safetensors").unlink()
    with pytest.raises(BadModelFile, match="weights are missing"):
        run_import(source)


def test_no_tokenizer(source: Path) -> None:
    (source / "tokenizer.json").unlink()
    with pytest.raises(BadModelFile, match="holds no tokenizer"):
        run_import(source)


def test_no_config(source: Path) -> None:
    (source / "config.json").unlink()
    with pytest.raises(BadModelFile, match=r"holds no config\.json"):
        run_import(source)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json"])
@pytest.mark.parametrize("text", ["", "{", "[]", "\x00\xff", "[" * 100_000])
def test_damaged_json(name: str, text: str, source: Path) -> None:
    (source / name).write_bytes(text.encode("latin-1"))
    with pytest.raises(BadModelFile, match="cannot be read"):
        run_import(source)


# What tokenizers takes, and what then ends in an error or in a panic of its own: at once, in encoding, in decoding.
BROKEN: dict[str, dict[str, Any]] = {
    "a normaliser without its table": {"normalizer": {"type": "Precompiled", "precompiled_charsmap": ""}},
    "words without one for the unknown": {
        "model": {
            **{"type": "WordPiece", "vocab": {"a": 0}, "unk_token": "[UNK]"},
            **{"continuing_subword_prefix": "##", "max_input_chars_per_word": 5},
        }
    },
    "a decoder that strips more than there is": {
        "decoder": {"type": "Strip", "content": "a", "start": 0, "stop": 2**40},
    },
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_tokenizer_that_fails_when_it_is_used_is_refused(broken: str, source: Path) -> None:
    edit(source / "tokenizer.json", **BROKEN[broken])
    with pytest.raises(BadModelFile, match=r"The tokenizer .*tokenizer\.json cannot be read; get it again"):
        run_import(source)


def test_code_that_a_model_no_longer_needs_is_left_alone(source: Path) -> None:
    edit(source / "config.json", auto_map={"AutoModelForCausalLM": "modeling_x.Y"})
    edit(source / "tokenizer_config.json", auto_map={"AutoTokenizer": ["x.Y", None]})
    (source / "modeling_x.py").write_text("raise SystemExit")
    folder, _ = run_import(source)
    assert torch.equal(logits(folder), logits(source))
    assert not list(folder.glob("*.py"))
    for name in ("config.json", "tokenizer_config.json"):
        assert "auto_map" not in json.loads((folder / name).read_text())


def test_a_tokenizer_that_needs_code_of_its_own_is_named(source: Path) -> None:
    (source / "tokenizer.json").unlink()
    edit(source / "tokenizer_config.json", auto_map={"AutoTokenizer": ["x.Y", None]})
    with pytest.raises(UnsupportedModel, match="code of its own"):
        run_import(source)


@pytest.mark.parametrize(
    ("file", "change", "sentence"),
    [
        ("config.json", {"model_type": "brand-new"}, "architecture brand-new"),
        ("config.json", {"model_type": ["llama"]}, "not supported"),
        ("config.json", {"model_type": "brand-new", "auto_map": {"AutoModel": "x.Y"}}, "code of its own"),
        ("config.json", {"quantization_config": {"quant_method": "hqq"}}, "quantised by hqq"),
    ],
)
def test_what_is_not_supported_is_named(file: str, change: dict[str, Any], sentence: str, source: Path) -> None:
    edit(source / file, **change)
    with pytest.raises(UnsupportedModel, match=sentence):
        run_import(source)


def test_a_tokenizer_larger_than_the_embedding(source: Path) -> None:
    edit(source / "config.json", vocab_size=100)
    with pytest.raises(BadModelFile, match="do not belong together"):
        run_import(source)


@pytest.fixture
def with_a_token_more(tiny_model: TinyModel, tmp_path: Path) -> Path:
    """As the small models of Gemma 3 come: with the tokenizer of the large ones, in which pictures have a token."""
    folder = shutil.copytree(tiny_model("llama", vocab_size=267), tmp_path / "gemma")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.add_special_tokens(["<image_soft_token>"])
    assert tokenizer.token_to_id("<image_soft_token>") == 267
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_an_added_token_that_has_no_row_is_left_out(with_a_token_more: Path) -> None:
    theirs = Tokenizer.from_file(str(with_a_token_more / "tokenizer.json"))
    folder, _ = run_import(with_a_token_more)
    ours = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert ours.token_to_id("<image_soft_token>") is None
    assert max(ours.encode("a<image_soft_token>b").ids) < 267
    for text in ("<|im_start|>user\nthe 12345<|im_end|>\n", "naïve 你好 🎉"):
        assert ours.encode(text).ids == theirs.encode(text).ids


def test_one_that_the_template_writes_is_refused(with_a_token_more: Path) -> None:
    (with_a_token_more / "chat_template.jinja").write_text("{{ messages }}<image_soft_token>")
    with pytest.raises(BadModelFile, match="do not belong together"):
        run_import(with_a_token_more)


def test_weights_that_are_linked_need_no_room(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gigabytes that a download has just brought are not asked for a second time."""
    numbers = AutoModelForCausalLM.from_pretrained(source).num_parameters()

    def usage(folder: Path) -> SimpleNamespace:
        return SimpleNamespace(free=files._RESERVE + numbers)

    monkeypatch.setattr("shutil.disk_usage", usage)
    folder, _ = run_import(source)
    assert (folder / "model.safetensors").samefile(source / "model.safetensors")


def test_weights_that_cannot_be_linked_need_room_on_the_same_disk_too(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on exFAT, which knows no links."""
    numbers = AutoModelForCausalLM.from_pretrained(source).num_parameters()

    def refuse(*places: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=files._RESERVE + numbers))
    with pytest.raises(DiskFull, match="too full to import"):
        run_import(source)


def test_a_long_name_makes_no_long_sentence(source: Path) -> None:
    edit(source / "config.json", model_type="brand-new\n" * 1000)
    with pytest.raises(UnsupportedModel, match="architecture brand-new") as caught:
        run_import(source)
    assert len(caught.value.sentence) < 200 and "\n" not in caught.value.sentence


def test_cut_weights(source: Path) -> None:
    path = source / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(BadModelFile, match="damaged or incomplete"):
        run_import(source)


INDEXES: dict[str, dict[str, Any]] = {
    "a file elsewhere": {"weight_map": {"w": "../model.safetensors"}},
    "an absolute file": {"weight_map": {"w": "/etc/passwd"}},
    "a missing file": {"weight_map": {"w": "model-00001-of-00002.safetensors"}},
    "a missing tensor": {"weight_map": {"not.there": "model.safetensors"}},
    "a number": {"weight_map": {"w": 5}},
    "no map": {},
}


@pytest.mark.parametrize("index", INDEXES)
def test_a_broken_index(index: str, source: Path) -> None:
    (source / "model.safetensors.index.json").write_text(json.dumps(INDEXES[index]))
    with pytest.raises(BadModelFile, match=r"lacks a part|incomplete|cannot be read"):
        run_import(source)


def test_a_copy_can_be_cancelled(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.models.files._BLOCK", 10_000)

    def refuse(*places: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    folder, handle = source.parent / "imported", RequestHandle("test")
    folder.mkdir()
    steps = import_folder(source, folder, "Tiny", handle)
    for step in steps:
        if step.done:
            handle.cancel()
            break
    with pytest.raises(Cancelled):
        next(steps)


@pytest.mark.parametrize("model_type", ["mamba", "bert", "gpt2"])
def test_weights_of_another_architecture_are_refused(model_type: str, source: Path) -> None:
    """transformers would make up what is missing, and the model would fail only when it is loaded."""
    edit(source / "config.json", model_type=model_type, architectures=None)
    with pytest.raises(BadModelFile, match=f"not those of the architecture {model_type}"):
        run_import(source)
