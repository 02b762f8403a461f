"""Which files of a repository are fetched, and how a person names a model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.hub.plan import Plan
from engine.hub.reference import reference
from engine.hub.room import import_bytes
from engine.hub.selection import choose, variants
from engine.hub.values import HubFailure, HubFile, Reference, Repository

SMALL = ("config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json", "chat_template.jinja")
NOISE = ("README.md", ".gitattributes", "modeling_x.py", "pytorch_model.bin", "original/model.pth", "onnx/model.onnx")


def repository(*paths: str, size: int = 1000) -> Repository:
    files = [HubFile(path, size + number, sha256="0" * 64) for number, path in enumerate(paths)]
    return Repository("org/name", "f" * 40, tuple(files))


def chosen(*paths: str, wish: str = "") -> list[str]:
    return [file.path for file in choose(repository(*paths), wish).files]


def test_one_file_of_safetensors() -> None:
    there = (*NOISE, "model.safetensors", "consolidated.safetensors", *SMALL)
    assert chosen(*there) == [*SMALL, "model.safetensors"]
    assert chosen("config.json", "tokenizer.json", "weights.safetensors")[-1] == "weights.safetensors"


def test_shards_with_their_index() -> None:
    shards = [f"model-{number:05}-of-00003.safetensors" for number in (1, 2, 3)]
    index = "model.safetensors.index.json"
    assert chosen(*SMALL, *reversed(shards), index, "original/consolidated.safetensors") == [*SMALL, index, *shards]
    with pytest.raises(HubFailure, match="lacks parts of its weights"):
        chosen(*SMALL, index, *shards[:2])


def test_one_quantisation_of_gguf() -> None:
    there = [f"Name-{kind}.gguf" for kind in ("Q2_K", "Q8_0", "Q4_K_M", "IQ3_XS", "F16")]
    there = ["Name.mmproj-Q8_0.gguf", "imatrix.gguf", *there, "mmproj-name-f16.gguf"]  # what is beside a model
    assert chosen(*there, "config.json") == ["Name-Q4_K_M.gguf"]
    for wish in ("Q8_0", "q8_0", "Name-Q8_0.gguf", "name-q8_0"):
        assert chosen(*there, wish=wish) == ["Name-Q8_0.gguf"]
    assert [one.name for one in variants(repository(*there))] == ["Q2_K", "Q8_0", "Q4_K_M", "IQ3_XS", "F16"]
    with pytest.raises(HubFailure, match="holds no Q5_K; there are: Q2_K, Q8_0, Q4_K_M, IQ3_XS, F16"):
        chosen(*there, wish="Q5_K")
    with pytest.raises(HubFailure, match="holds no GGUF files"):
        chosen(*SMALL, "model.safetensors", wish="Q4_0")


def test_all_parts_of_a_split_gguf() -> None:
    parts = [f"Q8_0/big-Q8_0-0000{number}-of-00002.gguf" for number in (1, 2)]
    assert chosen("big-Q3_K_M.gguf", *reversed(parts), wish="Q8_0") == parts
    assert chosen(parts[0], "big-Q3_K_M.gguf") == ["big-Q3_K_M.gguf"]  # a part of the better one is missing
    assert variants(repository(*parts))[0].nbytes == 2001


def test_safetensors_come_before_gguf_unless_asked_for() -> None:
    there = (*SMALL, "model.safetensors", "x-Q4_0.gguf")
    assert chosen(*there)[-1] == "model.safetensors"
    assert chosen(*there, wish="Q4_0") == ["x-Q4_0.gguf"]


def test_an_adapter() -> None:
    there = repository("adapter_model.safetensors", "adapter_config.json", "README.md", "tokenizer.json")
    selection = choose(there)
    assert selection.kind == "adapter"
    assert [file.path for file in selection.files] == ["adapter_model.safetensors", "adapter_config.json"]
    with pytest.raises(HubFailure, match=r"an adapter without adapter_model\.safetensors"):
        choose(repository("adapter_config.json", "adapter_model.bin"))


@pytest.mark.parametrize(
    ("paths", "sentence"),
    [
        (("config.json", "tokenizer.json", "pytorch_model.bin"), "pytorch_model.bin is a Python pickle"),
        (("model.pt",), "model.pt is a Python pickle"),
        (("README.md",), "holds no weights as safetensors or GGUF"),
        ((), "holds no weights"),
        (("config.json", "model.safetensors"), "holds no tokenizer"),
        (("unet/model.safetensors", "config.json"), "laid out in a way that Loquat does not know"),
        (("model.safetensors", "tokenizer.json"), "laid out in a way"),
    ],
)
def test_what_cannot_be_read_is_refused_before_anything_is_fetched(paths: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(HubFailure, match=sentence) as caught:
        choose(repository(*paths))
    assert caught.value.kind == "unsupported"


@pytest.mark.parametrize(
    "name", ["a\n-Q4_0.gguf", "con:-Q4_0.gguf", "..\\..\\x-Q4_0.gguf", ".Q4_0.gguf", "a\0Q4_0.gguf"]
)
def test_a_name_that_is_no_plain_one_is_refused(name: str) -> None:
    with pytest.raises(HubFailure, match="names cannot be used"):
        choose(repository(name))


def test_parts_of_a_path_stay_on_the_hub() -> None:
    (file,) = choose(repository("../../etc/x-Q4_0.gguf")).files
    assert file.name == "x-Q4_0.gguf"


def test_nothing_is_fetched_that_cannot_be_verified() -> None:
    bare = Repository("org/name", "f" * 40, (HubFile("x-Q4_0.gguf", 5),))
    with pytest.raises(HubFailure, match="tells no checksums"):
        choose(bare)


@pytest.mark.parametrize(
    ("text", "repo", "wish"),
    [
        ("org/name", "org/name", ""),
        (" org/name ", "org/name", ""),
        ("org/name:Q4_K_M", "org/name", "Q4_K_M"),
        ("org/Name-1.5_b:sub/file.gguf", "org/Name-1.5_b", "sub/file.gguf"),
        ("https://huggingface.co/org/name", "org/name", ""),
        ("https://huggingface.co/org/name/tree/main", "org/name", ""),
        ("https://huggingface.co/org/name/?library=transformers#uses", "org/name", ""),
        ("https://huggingface.co/org/name/blob/main/name-Q8_0.gguf", "org/name", "name-Q8_0.gguf"),
        ("https://huggingface.co/org/name/resolve/main/Q8/a%20b-Q8.gguf?download=true", "org/name", "Q8/a b-Q8.gguf"),
        ("https://huggingface.co/org/name/blob/main/config.json", "org/name", ""),
        ("hf:org/name:Q8_0", "org/name", "Q8_0"),
        ("http://127.0.0.1:8000/org/name", "org/name", ""),
    ],
)
def test_how_a_model_is_named(text: str, repo: str, wish: str) -> None:
    assert reference(text) == Reference(repo, wish)


@pytest.mark.parametrize(
    "text", ["name/", "/x", "a/b/c", "../x", "org/..", "org/na me", "org/x:../y", "a//b", "ö/x", "/"]
)
def test_what_names_no_model_is_a_sentence(text: str) -> None:
    with pytest.raises(HubFailure, match="write it as OWNER/NAME") as caught:
        reference(text)
    assert caught.value.kind == "not_found"


def test_a_revision_is_looked_at() -> None:
    assert reference("org/name", "v1.0").revision == "v1.0"
    page = "https://huggingface.co/org/name/tree/refs%2Fpr%2F2"
    assert reference(page) == Reference("org/name", "", "refs/pr/2")
    assert reference(page, "v1.0").revision == "v1.0"
    with pytest.raises(HubFailure, match="is no revision"):
        reference("org/name", "a b")


@pytest.mark.parametrize(
    ("kind", "variant", "parameters", "expected"),
    [
        ("gguf", "Q4_K_M", 8_000_000_000, 24_000_000_000),
        ("gguf", "Q8_0", 100_000_000, 500_000_000),
        ("gguf", "F16", 0, 2_500_000),
        ("gguf", "Q4_0", 0, 8_888_885),
        ("safetensors", "", 3_000_000_000, 3_000_000_000),
        ("adapter", "", 0, 0),
    ],
)
def test_the_room_that_an_import_needs(kind: str, variant: str, parameters: int, expected: int) -> None:
    files = (HubFile("x", 1_000_000),)
    plan = Plan(Reference("org/name"), "f" * 40, kind, variant, files, "Name", parameters=parameters)
    assert import_bytes(plan) == pytest.approx(expected, rel=1e-6)


def test_quantised_safetensors_need_the_room_of_their_floats() -> None:
    files = (HubFile("model.safetensors", 5_600_000_000),)
    quantised = Plan(
        Reference("org/Name-7B-GPTQ"), "f" * 40, "safetensors", "", files, "Name", parameters=1_100_000_000
    )
    assert import_bytes(quantised) == 7_000_000_000 * 3
    whole = (HubFile("model.safetensors", 14_000_000_000),)
    assert import_bytes(replace(quantised, files=whole, parameters=7_000_000_000)) == 7_000_000_000
