from __future__ import annotations

import ast
import importlib.util
import shutil
import sys
from pathlib import Path

import pytest
from building import elf, trim

reads_libraries = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("objdump") is None, reason="needs Linux and objdump, of Debian's binutils"
)


@pytest.mark.parametrize(
    "path",
    [
        "torch/include/ATen/ATen.h",
        "torch/test/cpp_api",
        "bitsandbytes/libbitsandbytes_cuda132.so",
        "bitsandbytes/libbitsandbytes_rocm72.so",
        "bitsandbytes\\libbitsandbytes_cuda132.dll",
        "PySide6/Qt/plugins/platforms/libqeglfs.so",
        "PySide6/Qt/plugins/platformthemes/libqgtk3.so",
        "PySide6/Qt/translations/qtbase_de.qm",
        "torch-2.13.0.dist-info/RECORD",
        "libstdc++.so.6",
    ],
)
def test_what_is_not_needed_goes(path: str) -> None:
    assert not trim.is_wanted(path)


@pytest.mark.parametrize(
    "path",
    [
        "torch/bin/torch_shm_manager",
        "torch/lib/libtorch_cpu.so",
        "torch/testing/_internal/common_utils.py",
        "bitsandbytes/libbitsandbytes_cpu.so",
        "PySide6/Qt/plugins/platforms/libqxcb.so",
        "PySide6/Qt/plugins/platforms/libqwayland.so",
        "PySide6/Qt/plugins/platforms/libqoffscreen.so",
        "PySide6/Qt/translations/qtbase_zh_CN.qm",
        "torch-2.13.0.dist-info/METADATA",
        "models/SmolLM2-135M-Instruct.Q4_1.gguf",
    ],
)
def test_what_is_needed_stays(path: str) -> None:
    assert trim.is_wanted(path)


def transformers() -> Path:
    spec = importlib.util.find_spec("transformers")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


def test_families_of_text_models_stay_and_others_go() -> None:
    gone = set(trim.unneeded_families(transformers()))
    there = {path.name for path in (transformers() / "models").iterdir()}
    assert gone <= there
    assert not gone & {"auto", "llama", "qwen2", "qwen3", "gemma3", "phi3", "mistral", "olmo2", "gpt2", "smollm3"}
    assert gone >= {"vit", "blip", "hubert"} & there
    assert len(gone) > len(there) / 3


def test_no_family_that_stays_imports_one_that_goes() -> None:
    gone = set(trim.unneeded_families(transformers()))
    for family in ("llama", "qwen3", "gemma3", "phi3", "olmo2", "mixtral"):
        for file in (transformers() / "models" / family).glob("*.py"):
            nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            imported = {
                str(node.module).split(".")[0] for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 2
            }
            assert not imported & gone, file


def test_a_library_goes_with_the_last_that_needs_it() -> None:
    wanted = {"plugin.so": ["libA.so"], "libA.so": ["libB.so"], "libC.so": ["libD.so"]}
    assert elf.reachable(["plugin.so"], wanted) == {"plugin.so", "libA.so", "libB.so"}


@reads_libraries
def test_what_a_program_needs_is_read_off_it() -> None:
    true = Path("/bin/true").resolve()
    needs = elf.needs([true])[true]
    assert needs.libraries == ("libc.so.6",)
    assert (2, 2) <= needs.glibc < (3, 0)


@reads_libraries
def test_unneeded_libraries_and_links_to_nothing_are_dropped(tmp_path: Path) -> None:
    for name in ("plugin.so", "libused.so.1", "libunused.so.1"):
        (tmp_path / name).write_bytes(Path("/bin/true").read_bytes())
    entries = [
        ("PySide6/Qt/plugins/platforms/plugin.so", str(tmp_path / "plugin.so"), "BINARY"),
        ("libc.so.6", str(tmp_path / "libused.so.1"), "BINARY"),  # /bin/true needs this name
        ("libunused.so.1", str(tmp_path / "libunused.so.1"), "BINARY"),
        ("libunused.so", "libunused.so.1", "SYMLINK"),
        ("libc.so", "libc.so.6", "SYMLINK"),
    ]
    assert [entry[0] for entry in trim.needed(entries)] == [
        "PySide6/Qt/plugins/platforms/plugin.so",
        "libc.so.6",
        "libc.so",
    ]


@reads_libraries
def test_a_link_of_the_same_name_hides_nothing_of_what_a_library_needs(tmp_path: Path) -> None:
    for name, program in (("plugin.so", "true"), ("libc.so.6", "bash"), ("libtinfo.so.6", "true")):
        (tmp_path / name).write_bytes(Path("/bin", program).read_bytes())  # bash needs libtinfo.so.6
    entries = [
        ("PySide6/Qt/plugins/platforms/plugin.so", str(tmp_path / "plugin.so"), "BINARY"),
        ("PySide6/Qt/lib/libc.so.6", str(tmp_path / "libc.so.6"), "BINARY"),
        ("libc.so.6", "PySide6/Qt/lib/libc.so.6", "SYMLINK"),
        ("libtinfo.so.6", str(tmp_path / "libtinfo.so.6"), "BINARY"),
    ]
    assert trim.needed(entries) == entries
