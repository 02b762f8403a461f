"""Everything that a person reads can be translated, and is; no text of the window is written past `translate`."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
APP = ROOT / "app"
# Said to developers, to the terminal or to the model; or names, which are the same in every language.
SILENT = {"__main__", "options", "i18n", "migrations", "logging_setup", "gui_probe", "terminal_signals", "fonts"}
SILENT |= {"self_test", "self_test_window"}  # whose one line of JSON is for programs
NAMES = re.compile(
    r"Loquat|Inter|GitHub|Markdown|JSON|HTML|SQLite|Open WebUI|ChatGPT|English|简体中文|CPU|CUDA|MPS|Enter|Escape|Esc"
    r"|(?:Ctrl|Shift|Alt|Meta)\+.*|Noto .*|Source Han .*|Hiragino .*|Yu Gothic .*|PingFang .*|Microsoft .*|Apple .*"
    r"|Malgun .*|Segoe .*|DejaVu .*|Cascadia .*|Liberation .*|Consolas|Menlo|Fusion|Qt .*|Python .*|PySide6.*"
    r"|io\.github\..*|<!--.*-->"  # the desktop file; where a page of the help is filled in
    r"|Del|Return|Space|Qt|Python|not installed|--.*|— Loquat|d MMM.*"
)
# Calls whose texts nobody reads.
QUIET_CALLS = {
    "debug", "info", "warning", "error", "exception", "critical", "log",
    "setObjectName", "setProperty", "property", "setStyleSheet", "findChild", "findChildren", "QByteArray", "Tag",
    "compile", "execute", "executemany", "executescript", "strftime", "setFamily", "hasFamily", "getattr", "mark",
    "translate", "Signal", "TypeVar", "Literal", "cast", "QLoggingCategory", "setDesktopFileName",
    "ValueError", "TypeError", "RuntimeError", "KeyError", "AssertionError", "NotImplementedError",
}  # fmt: skip
PROSE = re.compile(r"(?<![\w-])[A-Z][a-z]+\b|[A-Za-z]{2,}[,.:;]? [A-Za-z]{2,}")
SQL = re.compile(
    r"\b(SELECT|ORDER BY|INSERT|UPDATE|DELETE|FROM|WHERE|NULL|MATCH|conversation_id)\b|^[a-z_]+(, [a-z_]+)+$"
)


@pytest.fixture(scope="module")
def translations() -> ModuleType:
    spec = importlib.util.spec_from_file_location("loquat_translations", ROOT / "packaging" / "translations.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def sources() -> list[Path]:
    return sorted(path for path in APP.rglob("*.py") if path.stem not in SILENT)


def called(node: ast.Call) -> str:
    function = node.func
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )


def unseen(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes whose texts nobody reads, and texts that pass through `translate` or `mark`."""
    for node in ast.walk(tree):
        if (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) or isinstance(node, ast.AnnAssign):
            yield from ast.walk(node.value if isinstance(node, ast.Expr) else node.annotation)
        elif isinstance(node, ast.Call) and called(node) in QUIET_CALLS:
            yield from (inner for part in [*node.args, *node.keywords] for inner in ast.walk(part))
        elif isinstance(node, ast.arg | ast.FunctionDef) and (hint := getattr(node, "annotation", None)):
            yield from ast.walk(hint)
        elif isinstance(node, ast.Subscript | ast.Assert | ast.Raise):
            part = node.slice if isinstance(node, ast.Subscript) else node.msg if isinstance(node, ast.Assert) else None
            yield from ast.walk(part) if part else ()
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            yield from ast.walk(node.value)


def untranslated(source: str) -> list[tuple[int, str]]:
    """Texts in a module that people read and that pass through no translation, each with its line."""
    tree = ast.parse(source)
    skip = {id(node) for node in unseen(tree)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in skip]
    said = [(node.lineno, node.value) for node in texts if isinstance(node.value, str) and PROSE.search(node.value)]
    return [(line, text) for line, text in said if not NAMES.fullmatch(text.strip()) and not SQL.search(text)]


def test_no_text_is_written_past_translate() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text!r}"
        for path in sources()
        for line, text in untranslated(path.read_text(encoding="utf-8"))
    ]
    assert found == [], "\n".join(found)


def test_a_text_written_past_translate_is_found() -> None:
    module = '"""A Docstring."""\nx.setText("Copy all")\nLabel(theme, f"Only {n} here")\nlog.info("Not this one")\n'
    module += 'y = translate("m", "Said well")\nz.setObjectName("A name")\nNAME: Literal["One way"] = "Loquat"\n'
    assert untranslated(module) == [(2, "Copy all"), (3, "Only ")]


def test_every_text_is_found_by_lupdate_and_translated(translations: ModuleType) -> None:
    """Literal arguments, nothing missing, left over or unfinished, the same values, and a .qm made of the .ts."""
    found = translations.problems()
    assert found == [], "\n".join(found)


def test_a_context_is_the_module_or_package_that_says_it(translations: ModuleType) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {text}"
        for path in sources()
        for text in translations.texts_of_module(path)
        if text.context not in (path.stem, path.parent.name)
    ]
    assert wrong == []


def test_texts_and_plurals_are_read_from_the_source(translations: ModuleType, tmp_path: Path) -> None:
    module = tmp_path / "words.py"
    module.write_text(
        'A = mark("words", "Constant")\ndef f(n):\n    translate("words", "%n days", n)\n'
        '    translate("words", "a" "b {x}")\n    translate("words", "%n hours", n=len(n))\n'
        "    painter.translate(3, 4)\n"
    )
    assert {(text.source, text.plural) for text in translations.texts_of_module(module)} == {
        ("Constant", False), ("%n days", True), ("ab {x}", False), ("%n hours", True),
    }  # fmt: skip
    module.write_text('translate("words", f"{x} days")')
    with pytest.raises(translations.NotLiteral, match=r"words\.py:1"):
        list(translations.texts_of_module(module))


def test_sentences_of_the_engine_become_templates(translations: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "loader.py").write_text(
        '"""A docstring of words."""\n'
        'raise ModelNotFound(f"There is no model named {name!r}; {why}.", f"looked in {folder} and there")\n'
        'log.warning("Nothing was read: %s", error)\nraise ValueError(f"{x} must be that")\n'
    )
    (tmp_path / "cli_chat.py").write_text('print("Said in the terminal")')
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "app.py").write_text('raise Refused("Said to a client of the server.")')
    (tmp_path / "server" / "thread.py").write_text('raise CannotServe("Said by the switch in the window.")')
    found = translations.templates_of_engine(tmp_path)
    assert found == sorted(
        ["There is no model named {0}; {1}.", "Said by the switch in the window.", *translations.PHRASES]
    )


def test_what_is_wrong_in_a_translation_is_said(translations: ModuleType, tmp_path: Path) -> None:
    target = tmp_path / "x_zh_CN.ts"
    texts = {
        translations.Text("a", "%n day(s)", True),
        translations.Text("a", "{x} of {y}"),
        translations.Text("a", "Old"),
    }
    translations.update((target,), texts)
    assert [entry.finished for entry in translations.entries(target)] == [False] * 3
    filled = target.read_text().replace(
        '<translation type="unfinished"></translation>', "<translation>{x}</translation>"
    )
    target.write_text(filled)
    faults = [line for entry in translations.entries(target) for line in translations._faults(entry)]
    assert sorted(line.partition(":")[0] for line in faults) == [
        "not translated",
        "other values than in the source",
        "other values than in the source",
    ]
    translations.update((target,), {text for text in texts if text.source != "Old"})
    assert {entry.text.source for entry in translations.entries(target)} == {"%n day(s)", "{x} of {y}"}
