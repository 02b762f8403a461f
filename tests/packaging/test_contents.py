"""What goes into the frozen program besides code, as far as it can be told without freezing it."""

from __future__ import annotations

import ast
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest
from building import contents
from building.project import ROOT, read_project

CODE = {".py", ".pyc", ".pyi"}


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> contents.Plan:
    monkeypatch.setattr(contents, "BUILD", tmp_path)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "tiny.gguf").touch()
    return contents.plan(ROOT)


def test_every_asset_but_the_pictures_of_the_readme_goes_to_its_place(plan: contents.Plan) -> None:
    placed = {f"{folder}/{Path(source).name}" for source, folder in plan.datas}
    assert {"assets/icons/loquat.svg", "assets/themes/dark.json", "assets/translations/loquat_zh_CN.qm"} <= placed
    assert {"models/tiny.gguf", "./LICENSE"} <= placed
    assert not [path for path in placed if path.endswith(".ts") or "screenshot" in path]


def test_a_build_that_is_told_where_new_versions_are_announced_brings_that_along(tmp_path: Path) -> None:
    """As packaging/release/updates.sh leaves it, and app/declarations.py reads it."""
    for name in ("updates.json", "screenshot-light.png"):
        (tmp_path / "assets" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "assets" / name).touch()
    assert contents._assets(tmp_path) == [(str(tmp_path / "assets" / "updates.json"), "assets")]


def test_the_program_can_ask_for_its_own_version(plan: contents.Plan, tmp_path: Path) -> None:
    source, folder = next(entry for entry in plan.datas if entry[1].endswith(".dist-info"))
    assert folder == f"loquat_chat-{read_project().version}.dist-info"
    found = metadata.PathDistribution(Path(source).parent)
    assert (found.metadata["Name"], found.version) == ("loquat-chat", read_project().version)


def test_packages_that_the_code_imports_bring_their_data(plan: contents.Plan) -> None:
    """Of what app and engine import: files that are no code, in packages that no hook of PyInstaller's knows."""
    by_hook = {"PySide6", "torch", "transformers", "numpy", "numba", "llvmlite", "bitsandbytes", "psutil", "certifi"}
    # Their other files are for people, for compilers, or for what Loquat does not do.
    unread = {
        "fastapi",
        "huggingface_hub",
        "keyring",
        "markdown_it",
        "mdit_py_plugins",
        "openai",
        "sentencepiece",
        "shiboken6",
        "tokenizers",
    }
    bare = set()
    for name in _imported() - by_hook - unread - sys.stdlib_module_names:
        spec = find_spec(name)
        folder = Path(spec.origin).parent if spec and spec.origin and spec.submodule_search_locations else None
        if folder is not None and any(_is_data(path) for path in folder.rglob("*")):
            bare.add(name)
    assert bare <= set(plan.with_data), f"add {bare - set(plan.with_data)} to _WITH_DATA in building/contents.py"


def _is_data(path: Path) -> bool:
    return path.is_file() and path.suffix not in CODE and ".so" not in path.name and path.name != "py.typed"


def _imported() -> set[str]:
    names = set()
    for file in [*(ROOT / "app").rglob("*.py"), *(ROOT / "engine").rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.split(".")[0])
    return names
