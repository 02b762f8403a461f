"""The model that comes with an installed program: taken before any network, never trusted, never replaced unasked."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.chat import RequestHandle
from engine.errors import BadModelFile, Cancelled, FetchFailed, UnsupportedModel
from engine.events import LoadStage
from engine.models import prepare as preparing
from engine.models.bundled import OVERRIDE, bundled_file
from engine.models.catalogue import CatalogueModel
from engine.models.model_folder import FORMAT, MANIFEST
from engine.models.prepare import prepare
from engine.models.progress import Step
from engine.models.registry import ModelEntry, Registry
from engine.paths import Paths
from tests.engine.models.gguf_files import write_gguf
from tests.engine.models.package_index import model_of

TinyModel = Callable[..., Path]


@pytest.fixture(scope="module")
def gguf_file(tiny_model: TinyModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tiny_model("llama"), tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture
def model(gguf_file: Path) -> CatalogueModel:
    return model_of(gguf_file)


@pytest.fixture
def bundle(gguf_file: Path, model: CatalogueModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What came with the program: the model under the name that the catalogue has for it."""
    file = tmp_path / "program with spaces" / "models" / Path(model.member).name
    file.parent.mkdir(parents=True)
    file.write_bytes(gguf_file.read_bytes())
    monkeypatch.setenv(OVERRIDE, str(file.parent))
    return file


@pytest.fixture(autouse=True)
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would have been downloaded; there is no network."""
    wanted: list[str] = []

    def fetch(model: CatalogueModel, folder: Path, handle: RequestHandle) -> None:
        wanted.append(model.name)
        raise FetchFailed("There is no network.")

    monkeypatch.setattr(preparing, "fetch", fetch)
    return wanted


@pytest.fixture
def registry(loquat_home: Paths) -> Registry:
    return Registry(loquat_home.models)


def run(registry: Registry, model: CatalogueModel, name: str | None = None) -> tuple[ModelEntry, list[Step]]:
    steps, seen = prepare(registry, name, RequestHandle("test"), model), []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as stop:
            return stop.value, seen


@pytest.mark.parametrize("name", [None, "tiny"])
def test_the_first_start_takes_it_without_a_network(
    registry: Registry, model: CatalogueModel, bundle: Path, downloads: list[str], name: str | None
) -> None:
    before = bundle.read_bytes()
    entry, steps = run(registry, model, name)
    assert (entry.name, entry.label, entry.source_sha256) == ("tiny", model.label, model.sha256)
    assert {step.stage for step in steps} == {LoadStage.IMPORT}
    assert steps[0].sentence.startswith("Verifying Tiny Model: ")
    assert bundle.read_bytes() == before
    assert downloads == []
    assert not list(registry.models_dir.glob(".*"))


@pytest.mark.parametrize("damage", ["other bytes", "shorter", "gone"])
def test_a_damaged_one_is_never_imported(
    registry: Registry, model: CatalogueModel, bundle: Path, downloads: list[str], damage: str
) -> None:
    data = bytearray(bundle.read_bytes())
    data[len(data) // 2] ^= 1
    bundle.write_bytes(data if damage == "other bytes" else data[:-1])
    if damage == "gone":
        bundle.unlink()
    with pytest.raises(FetchFailed):
        run(registry, model, "tiny")  # the person asked for it: the network is tried
    assert downloads == ["tiny"]
    assert registry.entries() == []


def test_a_damaged_one_is_told_where_nobody_asked_for_a_download(
    registry: Registry, model: CatalogueModel, bundle: Path, downloads: list[str]
) -> None:
    bundle.write_bytes(bytes(model.nbytes))
    with pytest.raises(BadModelFile, match="which came with Loquat, is damaged"):
        run(registry, model)
    assert downloads == []


def test_a_cancelled_import_leaves_nothing_and_the_next_start_takes_it(
    registry: Registry, model: CatalogueModel, bundle: Path
) -> None:
    handle = RequestHandle("test")
    with pytest.raises(Cancelled):
        for step in prepare(registry, None, handle, model):
            if step.sentence.startswith("Packing"):
                handle.cancel()
    assert registry.entries() == [] and not list(registry.models_dir.rglob("*"))
    assert run(registry, model)[0].name == "tiny"


def test_a_frozen_program_has_it_in_its_folder_of_data_or_beside_it(
    model: CatalogueModel, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(OVERRIDE)
    assert bundled_file(model) is None, "a checkout has none"
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path / "_internal"), raising=False)
    monkeypatch.setattr(sys, "executable", str(bundle.parent.parent / "loquat"))
    assert bundled_file(model) == bundle
    monkeypatch.setattr(sys, "executable", "/elsewhere/loquat")
    monkeypatch.setattr(sys, "_MEIPASS", str(bundle.parent.parent))
    assert bundled_file(model) == bundle


def test_a_model_of_a_newer_version_is_told_and_left_alone(
    registry: Registry, model: CatalogueModel, bundle: Path
) -> None:
    """Neither the network nor what came with the program may take its place."""
    manifest = registry.models_dir / "tiny" / MANIFEST
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"format": FORMAT + 1, "name": "tiny"}))
    with pytest.raises(UnsupportedModel, match="comes from a newer version of Loquat; update Loquat"):
        run(registry, model, "tiny")
    assert registry.newer() == ["tiny"] and registry.entries() == []
    assert json.loads(manifest.read_text())["format"] == FORMAT + 1


def test_what_a_newer_version_added_to_a_manifest_is_passed_over(
    registry: Registry, model: CatalogueModel, bundle: Path
) -> None:
    entry, _ = run(registry, model)
    manifest = entry.folder / MANIFEST
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "qubits": 12}))
    assert registry.entries() == [entry] and registry.newer() == []
