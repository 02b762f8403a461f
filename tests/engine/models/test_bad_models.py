"""What people give as a model and is none, or lies: one sentence each, through the registry, as a person gives it."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.chat import RequestHandle
from engine.errors import BadModelFile, EngineError, ModelNotFound, UnsupportedModel
from engine.models.registry import ModelEntry, Registry
from engine.models.safetensors_file import MAX_HEADER, PICKLES
from tests.engine.models.gguf_files import finish, write_gguf

ROOT = Path(__file__).parents[3]
TinyModel = Callable[..., Path]


@pytest.fixture
def folder(tiny_model: TinyModel, tmp_path: Path) -> Path:
    """A sound folder, to be damaged."""
    return shutil.copytree(tiny_model("llama"), tmp_path / "tiny-llama")


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "models")


def add(registry: Registry, source: Path) -> ModelEntry:
    return finish(registry.add(source, RequestHandle("test")))


def refused(registry: Registry, source: Path) -> EngineError:
    with pytest.raises(EngineError) as caught:
        add(registry, source)
    assert not list(registry.models_dir.glob("*")), "nothing is left behind"
    assert caught.value.sentence.endswith(".")
    return caught.value


@pytest.mark.parametrize("suffix", [*PICKLES, ".BIN", ".Pt"])
def test_a_pickle_is_refused_by_name_and_with_the_reason(suffix: str, registry: Registry, tmp_path: Path) -> None:
    path = tmp_path / f"my model{suffix}"
    path.write_bytes(b"\x80\x02}q\x00.")
    error = refused(registry, path)
    assert isinstance(error, UnsupportedModel)
    assert f"my model{suffix} is a Python pickle, which can run any program when it is loaded" in error.sentence


@pytest.mark.parametrize(
    "names",
    [
        ["pytorch_model.bin"],
        ["pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin", "pytorch_model.bin.index.json"],
        ["consolidated.00.pth"],
        ["model.ckpt"],
        ["PYTORCH_MODEL.BIN"],
    ],
)
def test_a_folder_of_pickles_is_refused_by_name(names: list[str], registry: Registry, folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    for name in names:
        (folder / name).write_bytes(b"\x80\x02}q\x00.")
    error = refused(registry, folder)
    assert isinstance(error, UnsupportedModel)
    assert f"{names[0]} is a Python pickle" in error.sentence
    (folder / "config.json").unlink()
    assert refused(registry, folder).sentence == error.sentence


def test_a_single_safetensors_file_asks_for_its_folder(registry: Registry, folder: Path) -> None:
    error = refused(registry, folder / "model.safetensors")
    assert "give a GGUF file, or the folder that holds the safetensors" in error.sentence


@pytest.mark.parametrize("content", [b"", b"GGU", b"PK\x03\x04" + bytes(100), b"<!DOCTYPE html><html>"])
def test_another_kind_of_file_is_told(content: bytes, registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(content)
    assert "is no GGUF model" in refused(registry, tmp_path / "model.gguf").sentence


def test_an_empty_folder_and_nothing_at_all(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "config.json" in refused(registry, tmp_path / "empty").sentence
    for path in (tmp_path / "nothing", tmp_path / "nothing.gguf", Path(os.devnull)):
        assert isinstance(refused(registry, path), ModelNotFound)


def test_an_adapter_is_told_where_it_belongs(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "poet").mkdir()
    (tmp_path / "poet" / "adapter_config.json").write_text("{}")
    (tmp_path / "poet" / "adapter_model.bin").write_bytes(b"\x80\x02}q\x00.")
    error = refused(registry, tmp_path / "poet")
    assert "The folder poet holds no model, but an adapter; add it to the model that it is for" in error.sentence


PLACES = ["with spaces", "数据 模型", "modèle é", "🎉", "a.b.gguf.d", "o'clock & co", "%20$HOME"]
if os.name != "nt":  # which has no such names
    PLACES += [" leading and trailing ", '"co"']


@pytest.mark.parametrize("place", PLACES)
def test_paths_of_all_kinds(place: str, tiny_model: TinyModel, folder: Path, tmp_path: Path) -> None:
    here = tmp_path / place
    here.mkdir()
    file = write_gguf(tiny_model("llama"), here / f"{place}.gguf")
    moved = folder.rename(here / f"{place} folder")
    registry = Registry(here / "models")
    assert add(registry, file).source == file.name
    assert add(registry, Path(f"{moved}/")).label == moved.name.strip()


def test_the_same_place_in_other_words(tiny_model: TinyModel, folder: Path, tmp_path: Path) -> None:
    registry = Registry(tmp_path / "models")
    file = write_gguf(tiny_model("llama"), tmp_path / "tiny.gguf")
    made = add(registry, file).folder
    for source in (f"{file}/", f"{tmp_path}//tiny.gguf", tmp_path / "." / "tiny.gguf", folder / ".." / "tiny.gguf"):
        assert add(registry, Path(source)).folder == made
    for source in (f"{folder}//", folder / ".", folder / ".." / folder.name):
        assert add(registry, Path(source)).label == folder.name


def test_a_path_from_where_the_program_runs(folder: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert add(registry, Path()).label == folder.name
    assert add(registry, Path("..") / folder.name).label == folder.name
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(folder.parent))
    assert add(registry, Path("~") / folder.name).label == folder.name


def rewrite_header(path: Path, change: Callable[[dict], None]) -> None:
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])


NORM = "model.norm.weight"
LIES = {
    "another type of the same size": (lambda header: header[NORM].update(dtype="I32"), "do not fit|not those"),
    "half the size": (lambda header: header[NORM].update(dtype="F16"), "damaged or incomplete"),
    "another shape of the same size": (lambda header: header[NORM].update(shape=[8, 8]), "do not fit|not those|cannot"),
    "another name": (lambda header: header.update(other=header.pop(NORM)), "lacks a part|not those"),
    "a swap": (
        lambda header: header[NORM].update(data_offsets=header["model.embed_tokens.weight"]["data_offsets"]),
        "damaged or incomplete",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_header_that_lies_about_a_weight(lie: str, registry: Registry, folder: Path) -> None:
    change, sentence = LIES[lie]
    rewrite_header(folder / "model.safetensors", change)
    with pytest.raises(BadModelFile, match=sentence):
        add(registry, folder)


def test_a_weight_that_is_no_number(registry: Registry, folder: Path) -> None:
    path = folder / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-4:] = struct.pack("<f", float("nan"))
    path.write_bytes(data)
    with pytest.raises(BadModelFile, match="not numbers"):
        add(registry, folder)


READ = """
import os
import sys
from pathlib import Path
from engine.errors import EngineError
from engine.models.gguf_parts import open_gguf
from engine.models.safetensors_file import read_entries

def read(path):
    try:
        if path.suffix == ".gguf":
            with open_gguf(path):
                print("read")
        else:
            print("read", len(read_entries(path)))
    except EngineError as error:
        print(error.sentence)

def held(name):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(name))

for path in map(Path, sys.argv[1:]):
    if not os.fork():  # each in a process of its own, which begins with what this one holds
        before = held("VmRSS")
        read(path)
        print((held("VmHWM") - before - path.stat().st_size) // 1_000_000, flush=True)
        os._exit(0)
    os.wait()
"""


def read_in_a_child(paths: list[Path]) -> list[tuple[str, int]]:
    """What came of each, and the megabytes that it took beyond the size of the file."""
    command = [sys.executable, "-c", READ, *map(str, paths)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    return [(said, int(beyond)) for said, beyond in zip(lines[::2], lines[1::2], strict=True)]


def safetensors(path: Path, text: bytes) -> None:
    path.write_bytes(struct.pack("<Q", len(text)) + text)


def entries(count: int) -> bytes:
    made = (f'"{index:x}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}' for index in range(count))
    return b"{" + ",".join(made).encode() + b"}"


def pairs(count: int) -> bytes:
    one = (struct.pack("<Q", 4) + index.to_bytes(4, "little") + struct.pack("<IB", 0, 7) for index in range(count))
    return struct.pack("<4sIQQ", b"GGUF", 3, 0, count) + b"".join(one)


def strings(count: int, text: bytes) -> bytes:
    array = struct.pack("<QsIIQ", 1, b"k", 9, 8, count)
    return struct.pack("<4sIQQ", b"GGUF", 3, 0, 1) + array + count * (struct.pack("<Q", len(text)) + text)


def tensors(count: int) -> bytes:
    infos = (
        struct.pack("<Q6sIQIQ", 6, f"{index:06}".encode(), 1, 1, 24, 32 * index)  # one int8 each
        for index in range(count)
    )
    return struct.pack("<4sIQQ", b"GGUF", 3, count, 0) + b"".join(infos) + bytes(32 * count + 32)


TOO_MUCH = "describes more than any model has"
GREEDY = {
    "a header of 100 MB": (".safetensors", lambda: b"[" + b"[]," * 33_000_000 + b"0]", "longer than that of any model"),
    "lists in a header": (".safetensors", lambda: b"[" + b"[]," * (MAX_HEADER // 3 - 1) + b"0]", "cannot be read"),
    "many tensors in a header": (".safetensors", lambda: entries(100_000), "read 100000"),
    "many texts": (".gguf", lambda: strings(3_000_000, b"ab"), TOO_MUCH),
    "as many texts as are read": (".gguf", lambda: strings(1_400_000, "é".encode()), "read"),
    "one long text": (".gguf", lambda: strings(1, b"a" * 100_000_000), TOO_MUCH),
    "wide texts": (".gguf", lambda: strings(19, "🎉".encode() + b"a" * 1_000_000), "read"),
    "many pairs": (".gguf", lambda: pairs(20_000), TOO_MUCH),
    "many tensors": (".gguf", lambda: tensors(70_000), TOO_MUCH),
    "as many tensors as are read": (".gguf", lambda: tensors(65_536), "read"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells of the most memory that was held")
def test_a_file_takes_little_more_memory_than_its_size(tmp_path: Path) -> None:
    paths = []
    for kind, (suffix, content, _) in GREEDY.items():
        paths.append(tmp_path / f"{kind}{suffix}")
        if suffix == ".gguf":
            paths[-1].write_bytes(content())
        else:
            safetensors(paths[-1], content())
    for kind, (said, beyond) in zip(GREEDY, read_in_a_child(paths), strict=True):
        assert GREEDY[kind][2] in said, kind
        assert beyond < 200, kind
    for path in paths:
        path.unlink()  # some hundred megabytes
