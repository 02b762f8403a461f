"""The layers, where import-linter's contracts (tests/test_quality.py) do not reach, and the map of the tree."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOP_LEVEL = {
    ".ci",
    ".github",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "app",
    "assets",
    "engine",
    "packaging",
    "pyproject.toml",
    "tests",
}
HEAVY = ("torch", "transformers", "numba", "bitsandbytes", "numpy", "gguf", "safetensors", "tokenizers")


def tracked() -> list[str]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if name]


def modules_after(code: str) -> set[str]:
    """Top-level modules loaded by a fresh interpreter that ran `code`."""
    line = f"{code}\nimport sys; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", line], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def test_the_top_level_is_as_promised() -> None:
    assert {name.partition("/")[0] for name in tracked()} == TOP_LEVEL


def test_the_engines_values_load_no_torch_and_no_qt() -> None:
    loaded = modules_after("import engine, engine.cli")
    assert "engine" in loaded
    assert not loaded & {*HEAVY, "PySide6", "app"}


def test_the_window_is_on_screen_before_torch_is_loaded() -> None:
    """Every module of `app` is imported, the window's among them, and none of them pulls torch in."""
    names = [name[:-3].replace("/", ".") for name in tracked() if name.startswith("app/") and name.endswith(".py")]
    loaded = modules_after("\n".join(f"import {name.removesuffix('.__init__')}" for name in names))
    assert "PySide6" in loaded
    assert not loaded & {*HEAVY, "asyncio", "openai", "httpx", "fastapi"}


def test_terminal_commands_load_no_qt() -> None:
    code = (
        "import contextlib, app.__main__\nwith contextlib.suppress(SystemExit): app.__main__.main(['models', '--help'])"
    )
    assert not modules_after(code) & {"PySide6", "torch"}


def imported_modules(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


VIEWS = sorted((ROOT / "app" / "views").rglob("*.py"))
STATE = {
    *("app.store", "app.db_writer", "app.search", "app.settings", "app.remote_servers", "app.transfer.job"),
    *("app.session", "app.sessions", "app.chats", "app.library", "app.composing", "app.conductor"),
    *("app.engine_bridge", "engine.worker"),
}
NO_QT = re.compile(r"\b(?:Pure|pure|no Qt|No Qt)\b")


@pytest.mark.parametrize("path", VIEWS, ids=lambda path: path.name)
def test_a_view_knows_no_store_and_no_session(path: Path) -> None:
    """Views take frozen values and emit what the person wants; the conductor connects the two."""
    assert not imported_modules(path) & STATE


def test_modules_that_say_so_know_no_qt() -> None:
    """By the first line of their docstrings, which is the map's too."""
    said = [path for path in (ROOT / "app").rglob("*.py") if NO_QT.search(path.read_text("utf-8").partition("\n")[0])]
    assert len(said) > 20
    assert [path.name for path in said if any("PySide6" in name for name in imported_modules(path))] == []


def test_the_map_names_every_module_and_nothing_else() -> None:
    named = set(re.findall(r"^    ((?:app|engine)/\S+\.py) ", (ROOT / "ARCHITECTURE.md").read_text(), re.MULTILINE))
    there = {name for name in tracked() if re.match(r"(app|engine)/.*\.py$", name) and (ROOT / name).stat().st_size}
    assert there - named == set(), "not in ARCHITECTURE.md"
    assert named - there == set(), "named, but not there"
