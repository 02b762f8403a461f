"""The registry: what is in it is whole, whatever happens on the way."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.chat import RequestHandle
from engine.errors import BadModelFile, Cancelled, DiskFull, EngineError, ModelNotFound, UnsupportedModel
from engine.models import listing
from engine.models import registry as registry_module
from engine.models.catalogue import DEFAULT_MODEL
from engine.models.model_folder import unfinished_folder
from engine.models.names import NameTaken, check_name, slug
from engine.models.registry import ModelEntry, Registry
from tests.engine.models.gguf_files import finish, write_gguf

TinyModel = Callable[..., Path]


@pytest.fixture(scope="module")
def gguf_file(tiny_model: TinyModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tiny_model("llama"), tmp_path_factory.mktemp("gguf") / "Tiny Modèl v1.gguf")


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "models with spaces ü")


def add(registry: Registry, source: Path, name: str | None = None) -> ModelEntry:
    return finish(registry.add(source, RequestHandle("test"), name))


def leftovers(registry: Registry) -> list[str]:
    """What an import must not leave: anything but finished models."""
    models = {entry.name for entry in registry.entries()}
    return [path.name for path in registry.models_dir.glob("*") if path.name not in models]


def test_an_empty_registry(registry: Registry) -> None:
    assert registry.entries() == []
    with pytest.raises(ModelNotFound, match="There is no model named smollm2-135m-instruct; none is there yet"):
        registry.find(None)


def test_a_gguf_file_becomes_a_model(registry: Registry, gguf_file: Path) -> None:
    entry = add(registry, gguf_file)
    assert (entry.name, entry.label, entry.architecture) == ("tiny-model-v1", "Tiny Model", "llama")
    assert entry.source == gguf_file.name and entry.default
    assert entry.nbytes == sum(path.stat().st_size for path in entry.folder.iterdir() if path.name != "loquat.json")
    assert registry.entries() == [entry] == [registry.find("tiny-model-v1")]
    assert leftovers(registry) == []


def test_the_same_file_again_is_the_same_model_unless_it_is_named(registry: Registry, gguf_file: Path) -> None:
    first = add(registry, gguf_file)
    assert add(registry, gguf_file) == first
    assert add(registry, gguf_file, "other").name == "other"
    with pytest.raises(NameTaken, match="A model named other exists already"):
        add(registry, gguf_file, "other")
    assert [entry.name for entry in registry.entries()] == ["other", "tiny-model-v1"]


def test_names_stay_unique(registry: Registry, tiny_model: TinyModel) -> None:
    source = tiny_model("llama")
    names = [add(registry, source).name for _ in range(3)]
    assert names == ["tiny-llama", "tiny-llama-2", "tiny-llama-3"]


def test_the_default(registry: Registry, gguf_file: Path) -> None:
    for name in ("bbb", "aaa"):
        add(registry, gguf_file, name)
    assert registry.find(None).name == "aaa", "whichever there is"
    registry.set_default("bbb")
    assert Registry(registry.models_dir).find(None).name == "bbb"
    assert [entry.default for entry in registry.entries()] == [False, True]
    add(registry, gguf_file, DEFAULT_MODEL.name)
    assert registry.find(None).name == "bbb", "what was chosen comes first"
    registry.remove("bbb")
    assert registry.find(None).name == DEFAULT_MODEL.name, "then Loquat's own"
    with pytest.raises(ModelNotFound, match="There is no model named ccc; there are: aaa"):
        registry.set_default("ccc")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"default": 5}', '{"default": "gone"}', "\x00"])
def test_a_damaged_default_counts_as_none(text: str, registry: Registry, gguf_file: Path) -> None:
    add(registry, gguf_file, "aaa")
    (registry.models_dir / "default.json").write_text(text)
    assert registry.find(None).name == "aaa"


def test_removing_frees_the_disk(registry: Registry, gguf_file: Path, tiny_model: TinyModel) -> None:
    entry = add(registry, gguf_file)
    whole = sum(path.stat().st_size for path in entry.folder.iterdir())
    assert registry.remove(entry.name) == whole
    assert list(registry.models_dir.iterdir()) == []
    linked = add(registry, tiny_model("llama"))
    weights = (linked.folder / "model.safetensors").stat().st_size
    assert registry.remove(linked.name) <= whole - weights, "the weights are still in the folder they came from"
    assert (tiny_model("llama") / "model.safetensors").is_file()
    with pytest.raises(ModelNotFound):
        registry.remove(entry.name)


def test_a_title_out_of_a_file_stays_short(registry: Registry, tiny_model: TinyModel, tmp_path: Path) -> None:
    entry = add(registry, shutil.copytree(tiny_model("llama"), tmp_path / f"line\u2028{'x' * 70}"))
    assert entry.label.startswith("line\N{REPLACEMENT CHARACTER}xxx") and len(entry.label) < 70


def test_a_model_whose_config_may_not_be_read_is_listed(
    registry: Registry, gguf_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = add(registry, gguf_file)
    (known,) = listing.listed([entry])
    assert known.context == 512

    def refuse(folder: Path, name: str) -> None:
        raise PermissionError(13, "Permission denied", name)

    monkeypatch.setattr(listing, "read_object", refuse)
    assert listing.listed([entry]) == (replace(known, context=0),)


def test_other_folders_are_no_models(registry: Registry, gguf_file: Path) -> None:
    entry = add(registry, gguf_file)
    for name, text in {"foreign": None, "broken": "{", "newer": json.dumps({"format": 99}), "list": "[]"}.items():
        shutil.copytree(entry.folder, registry.models_dir / name)
        manifest = registry.models_dir / name / "loquat.json"
        if text is None:
            manifest.unlink()
        else:
            manifest.write_text(text)
    assert registry.entries() == [entry]


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../up", "a/b", "a\\b", "Upper", "con", "nul.txt", "a b", "x" * 65, "ü"]
)
def test_a_name_that_is_no_folder_name_is_refused(name: str, registry: Registry, gguf_file: Path) -> None:
    with pytest.raises(EngineError, match="cannot be a model's name"):
        add(registry, gguf_file, name)
    assert not registry.models_dir.exists()


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("模型n", "model-n"),
        ("Модель 7B", "model-7b"),
        ("模型", "model"),
        ("Сайга Llama3 8B", "llama3-8b"),
        ("Größe", "groe"),
        ("ñ", "n"),
        ("n", "n"),
        ("con", "model"),
    ],
)
def test_a_name_in_other_letters_stays_one_that_can_be_guessed(title: str, name: str) -> None:
    assert slug(title) == name


@given(st.text(max_size=100))
def test_a_slug_is_always_a_name(text: str) -> None:
    check_name(slug(text))
    check_name(f"{slug(text)}-1234567")


def test_what_cannot_be_a_model(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "weights.pt").write_bytes(b"\x80\x04")
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelNotFound, match="There is no file or folder"):
        add(registry, tmp_path / "missing.gguf")
    with pytest.raises(UnsupportedModel, match=r"weights\.pt is a Python pickle"):
        add(registry, tmp_path / "weights.pt")
    with pytest.raises(BadModelFile, match=r"notes\.txt is no GGUF model"):
        add(registry, tmp_path / "notes.txt")
    with pytest.raises(BadModelFile, match=r"empty holds no config\.json"):
        add(registry, tmp_path / "empty")
    assert leftovers(registry) == []


def test_a_truncated_file_leaves_nothing(registry: Registry, gguf_file: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.gguf").write_bytes(gguf_file.read_bytes()[:100_000])
    with pytest.raises(BadModelFile, match=r"cut\.gguf is damaged or incomplete"):
        add(registry, tmp_path / "cut.gguf")
    assert leftovers(registry) == []


def test_cancelled_and_abandoned_imports_leave_nothing(registry: Registry, gguf_file: Path) -> None:
    total = len(list(registry.add(gguf_file, RequestHandle("count"), "count")))
    for number in range(1, total):
        handle = RequestHandle("test")
        steps = registry.add(gguf_file, handle, "cancelled")
        for _ in range(number):
            next(steps)
        if number % 2:
            steps.close()
        else:
            handle.cancel()
            with pytest.raises(Cancelled):
                next(steps)
        assert [entry.name for entry in registry.entries()] == ["count"]
        assert leftovers(registry) == []


def test_a_killed_import_is_no_model_and_is_swept_away(registry: Registry, gguf_file: Path) -> None:
    script = """
import sys
from pathlib import Path
import psutil
from engine.chat import RequestHandle
from engine.models.registry import Registry
for step in Registry(Path(sys.argv[1])).add(Path(sys.argv[2]), RequestHandle("x"), "killed"):
    if step.sentence.startswith("Importing") and 2 * step.done > step.total:
        psutil.Process().kill()
"""
    command = [sys.executable, "-c", script, str(registry.models_dir), str(gguf_file)]
    assert subprocess.run(command, check=False).returncode != 0
    assert registry.entries() == []
    assert len(list(registry.models_dir.iterdir())) == 1
    add(registry, gguf_file, "next")
    assert [path.name for path in registry.models_dir.iterdir()] == ["next"]


def test_another_process_at_work_is_left_alone(registry: Registry, gguf_file: Path) -> None:
    alive = registry.models_dir / f".unfinished-{psutil.Process().ppid()}-00000000"
    alive.mkdir(parents=True)
    add(registry, gguf_file)
    assert alive.is_dir()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is a Linux thing")
@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer_config.json"])
def test_a_disk_that_fills_up_leaves_nothing(
    file: str, registry: Registry, gguf_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def with_a_full_file(models_dir: Path) -> Iterator[Path]:
        with unfinished_folder(models_dir) as folder:
            (folder / file).symlink_to("/dev/full")
            yield folder

    monkeypatch.setattr(registry_module, "unfinished_folder", with_a_full_file)
    with pytest.raises(DiskFull, match="The disk is full: there was no room to import the model"):
        add(registry, gguf_file)
    assert registry.entries() == [] and leftovers(registry) == []


def test_a_folder_that_cannot_be_written_gets_a_sentence(tmp_path: Path, gguf_file: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EngineError, match=r"Loquat could not import the model in .*file") as caught:
        add(Registry(tmp_path / "file" / "models"), gguf_file)
    assert caught.value.sentence.endswith(".")
