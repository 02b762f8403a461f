"""GGUF models in several files: any part finds the others, and a part that is missing or wrong is told of."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import gguf
import numpy as np
import pytest
from safetensors.numpy import load_file

from engine.chat import RequestHandle
from engine.errors import BadModelFile, ModelNotFound
from engine.models.gguf_parts import open_gguf
from engine.models.registry import ModelEntry, Registry
from tests.engine.models.gguf_files import finish, write_gguf

TinyModel = Callable[..., Path]
NAME = "Tiny Modèl"


@pytest.fixture(scope="module")
def written(tiny_model: TinyModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parts")
    write_gguf(tiny_model("llama"), folder / f"{NAME}.gguf", tensors_per_part=11)
    write_gguf(tiny_model("qwen2"), folder / "other.gguf", tensors_per_part=16)
    write_gguf(tiny_model("llama"), folder / "whole.gguf")
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """The three parts alone, to be damaged."""
    target = tmp_path / "a model, in three ü"
    target.mkdir()
    for path in parts(written):
        shutil.copy2(path, target)
    assert len(parts(target)) == 3
    return target


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{NAME}-*"))


def add(models: Path, source: Path, name: str | None = None, keep: bool = False) -> ModelEntry:
    return finish(Registry(models).add(source, RequestHandle("test"), name, keep_source=keep))


def weights(entry: ModelEntry) -> dict[str, np.ndarray]:
    return load_file(entry.folder / "model.safetensors")


def test_any_part_or_the_folder_gives_the_whole_model(written: Path, folder: Path, tmp_path: Path) -> None:
    whole = add(tmp_path / "whole", written / "whole.gguf")
    first = add(tmp_path / "models", parts(folder)[0])
    assert (first.name, first.parameters) == ("tiny-model", whole.parameters)
    for name, values in weights(whole).items():
        np.testing.assert_array_equal(weights(first)[name], values)
    for source in (*parts(folder), folder, Path(f"{folder}/")):
        assert add(tmp_path / "models", source) == first, "the same model is known again, whichever part is given"


def test_the_checksum_is_that_of_all_parts_in_a_row(folder: Path, tmp_path: Path) -> None:
    joined = b"".join(path.read_bytes() for path in parts(folder))
    assert add(tmp_path / "models", folder).source_sha256 == hashlib.sha256(joined).hexdigest()


def test_parts_that_are_kept_are_a_model_again(folder: Path, tmp_path: Path) -> None:
    entry = add(tmp_path / "models", parts(folder)[1], keep=True)
    kept = sorted(path.name for path in entry.folder.glob("*.gguf"))
    assert kept == [f"source-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
    with open_gguf(entry.folder / kept[2]) as file, open_gguf(parts(folder)[0]) as original:
        assert file.tensors.keys() == original.tensors.keys()
        assert file.nbytes == sum(path.stat().st_size for path in parts(folder))


def test_links_into_a_cache_keep_their_names(folder: Path, tmp_path: Path) -> None:
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshot"
    blobs.mkdir()
    snapshot.mkdir()
    for number, path in enumerate(parts(folder)):
        (snapshot / path.name).symlink_to(path.rename(blobs / f"{number:064}"))
    assert add(tmp_path / "models", parts(snapshot)[2]).name == "tiny-model"


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_missing_part_is_named(missing: int, folder: Path, tmp_path: Path) -> None:
    lost = parts(folder)[missing]
    lost.unlink()
    for source in (*parts(folder), folder):
        with pytest.raises(BadModelFile, match=rf"lies in 3 files, and .*-0000{missing + 1}-of-00003\.gguf is not"):
            add(tmp_path / "models", source)
    with pytest.raises(ModelNotFound, match="no file or folder"):
        add(tmp_path / "models", lost)


def swap(one: Path, two: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    two.rename(one)
    aside.rename(two)


@pytest.mark.parametrize("pair", [(0, 1), (1, 2)])
def test_swapped_parts_are_told(pair: tuple[int, int], folder: Path, tmp_path: Path) -> None:
    files = parts(folder)
    swap(files[pair[0]], files[pair[1]])
    with pytest.raises(BadModelFile, match=r"is in truth part \d of its model"):
        add(tmp_path / "models", folder)


def test_a_part_of_another_model_is_told(written: Path, folder: Path, tmp_path: Path) -> None:
    other = sorted(written.glob("other-*"))
    assert len(other) == 3
    shutil.copy2(other[2], parts(folder)[2])
    with pytest.raises(BadModelFile, match=r"do not belong together|is no part of this model"):
        add(tmp_path / "models", folder)
    shutil.copy2(written / "whole.gguf", parts(folder)[2])
    with pytest.raises(BadModelFile, match=r"-00003-of-00003\.gguf is no part of this model"):
        add(tmp_path / "models", folder)


def test_a_part_that_holds_the_same_tensors_again_is_told(folder: Path, tmp_path: Path) -> None:
    data = parts(folder)[1].read_bytes()
    key = b"split.no" + (2).to_bytes(4, "little")  # a 16-bit number follows
    assert data.count(key) == 1
    parts(folder)[2].write_bytes(data.replace(key + b"\1\0", key + b"\2\0"))
    with pytest.raises(BadModelFile, match=r"-00003-of-00003\.gguf is no part of this model"):
        add(tmp_path / "models", folder)


def test_a_part_under_another_name_is_told(folder: Path, tmp_path: Path) -> None:
    part = parts(folder)[1].rename(folder / "model.gguf")
    with pytest.raises(BadModelFile, match=r"model\.gguf is one of 3 parts"):
        add(tmp_path / "models", part)
    with pytest.raises(BadModelFile, match="contradicts itself"):
        add(tmp_path / "models", part.rename(folder / "model-00004-of-00003.gguf"))


def test_a_cut_part_and_one_that_is_no_gguf(folder: Path, tmp_path: Path) -> None:
    part = parts(folder)[2]
    data = part.read_bytes()
    part.write_bytes(data[: len(data) // 2])
    with pytest.raises(BadModelFile, match=r"-00003-of-00003\.gguf is damaged or incomplete"):
        add(tmp_path / "models", folder)
    part.write_bytes(b"")
    with pytest.raises(BadModelFile, match=r"-00003-of-00003\.gguf is no GGUF model"):
        add(tmp_path / "models", folder)


def test_a_folder_of_several_models_asks_for_one(written: Path, tmp_path: Path) -> None:
    with pytest.raises(BadModelFile, match="holds 3 GGUF models; give the file of one of them"):
        add(tmp_path / "models", written)


def test_safetensors_come_before_a_gguf_beside_them_and_a_config_alone_does_not(
    tiny_model: TinyModel, tmp_path: Path
) -> None:
    source = shutil.copytree(tiny_model("llama"), tmp_path / "both")
    write_gguf(tiny_model("qwen2"), source / "other.gguf")
    assert add(tmp_path / "models", source).architecture == "llama"
    (source / "model.safetensors").unlink()
    assert add(tmp_path / "models", source).architecture == "qwen2"


def test_a_first_part_may_hold_no_tensors(tiny_model: TinyModel, tmp_path: Path) -> None:
    """As gguf-split writes it with --no-tensor-first-split."""
    writer = gguf.GGUFWriter(tmp_path / "m.gguf", "llama", split_max_tensors=1, small_first_shard=True)
    for name in ("a", "b"):
        writer.add_tensor(name, np.ones(32, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with open_gguf(tmp_path / "m-00002-of-00003.gguf") as file:
        assert list(file.tensors) == ["a", "b"]
        assert file.path.name == "m-00001-of-00003.gguf"
