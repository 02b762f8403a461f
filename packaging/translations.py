"""Collects what the window says, and compiles its translations: `python packaging/translations.py [--check]`.

The texts are the literals in calls of `app.i18n.translate` and `mark`, and the sentences of the engine, which knows no
Qt: those are found in its source as templates, "The model {0} is not installed.", and kept in engine.json, by which
`app/engine_sentences.py` knows them again. Qt's lupdate then brings assets/translations/*.ts up to date, where people
translate, and lrelease compiles them. With --check nothing is written; the exit code is 1 if anything would be.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
FOLDER: Final = ROOT / "assets" / "translations"
TEMPLATES: Final = FOLDER / "engine.json"
CHINESE: Final = FOLDER / "loquat_zh_CN.ts"
ENGLISH: Final = FOLDER / "loquat_en.ts"  # plurals only
PLACEHOLDER: Final = re.compile(r"\{[^{}]*\}|%L?n")
ENGINE: Final = "engine"  # the context of its sentences
# Put together from a number and a noun, or out of reach of the search below.
PHRASES: Final = ("{0} thread", "{0} threads", "{0} s", "it does not say why.")
# Modules of the engine that write to the terminal, to developers or to clients of the server only.
SILENT: Final = re.compile(
    r"server/(?!thread).*|bench/.*|doctor/.*"
    r"|(?:.*/)?(?:cli(?!ent).*|verify|pre_tokenizers|titles|target|heads|step|cache_folder|units|jsonl_.*|batch)"
    r"|system_libraries|updates|templates/(?:allowed|probe)"
)
# Looked for in other programs' words, names of formats, and detail that reaches nobody.
NEVER_SHOWN: Final = re.compile(
    r"connection broken by|No matching distribution found|no space left on device|not enough space on the disk"
    r"|Disk quota exceeded|can't allocate memory|not enough memory|out of memory|Progress .*|pip ended with .*"
    r"|(?:transformers|decoder|kernels)-.*|.* sha256 .*|.*expected a floating-point.*|\{0\} wheels|format \{0\}"
    r"|a piece with fields.*|a field .*|differs in .*|The quick brown fox.*|  Spaces in front.*|one was added"
    r"|the member has another size|Go on with your last answer.*|It is no object\.|Its \{0\} is missing\."
    r"|a stream without .*|it does not say why|in use|on \{0\}, at \{1\}",
    re.DOTALL | re.IGNORECASE,
)
QUIET_CALLS: Final = {
    *("debug", "info", "warning", "error", "exception", "compile", "search", "sub", "njit"),
    *("ValueError", "TypeError", "RuntimeError", "AssertionError", "KeyError", "MemoryError"),
}
_PHRASE: Final = re.compile(r"(?:[a-z]{2}|\})[,;:.)]* (?:[\"(]?[a-z]{2}|\{|1)", re.IGNORECASE)
_WORD: Final = re.compile(r"[a-z]{2}")


@dataclass(frozen=True, order=True)
class Text:
    """One text to translate.

    Attributes:
        plural: Whether it has a form for each number.
    """

    context: str
    source: str
    plural: bool = False


class NotLiteral(Exception):
    """A text is put together where it is translated, so that nobody can find it; the message says where."""


def texts_of_window(folder: Path) -> set[Text]:
    """What the modules below `folder` say.

    Raises:
        NotLiteral: A call has other arguments than literals.
    """
    return {text for path in sorted(folder.rglob("*.py")) if path.name != "i18n.py" for text in texts_of_module(path)}


def texts_of_module(path: Path) -> Iterator[Text]:
    """What one module says.

    Raises:
        NotLiteral: A call has other arguments than literals.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("translate", "mark"):
            literals = [argument.value for argument in node.args[:2] if isinstance(argument, ast.Constant)]
            if len(literals) < 2 or not all(isinstance(literal, str) for literal in literals):
                raise NotLiteral(f"{path.name}:{node.lineno}")
            plural = len(node.args) > 2 or any(keyword.arg == "n" for keyword in node.keywords)
            yield Text(str(literals[0]), str(literals[1]), plural)


def templates_of_engine(folder: Path) -> list[str]:
    """The sentences and phrases in the engine's source, sorted, each value in them as {0}, {1}, ..."""
    found = set(PHRASES) | set(_lines_of_catalogue(folder))
    for path in folder.rglob("*.py"):
        if not SILENT.fullmatch(path.relative_to(folder).with_suffix("").as_posix()):
            found |= set(_templates_of_module(path))
    return sorted(found)


def _lines_of_catalogue(folder: Path) -> Iterator[str]:
    """What each model of the catalogue is good at."""
    file = folder / "models" / "catalogue.json"
    if file.is_file():
        yield from (model["good_at"] for model in json.loads(file.read_text(encoding="utf-8"))["models"])


def _templates_of_module(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden = {id(inner) for node in ast.walk(tree) for inner in _not_shown(node)}
    for node in ast.walk(tree):
        template = None if id(node) in hidden else _template(node)
        if template and _is_said(template):
            yield template


def _is_said(template: str) -> bool:
    worded = _PHRASE.search(template) and _WORD.search(PLACEHOLDER.sub("", template))
    return bool(worded) and not NEVER_SHOWN.fullmatch(template)


def _not_shown(node: ast.AST) -> Iterator[ast.AST]:
    """What a person never reads: docstrings, log lines, technical detail, faults of the program, parts of a text."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield from (part for part in node.values if isinstance(part, ast.Constant))
        formatted = (part for part in node.values if isinstance(part, ast.FormattedValue))
        yield from (part.format_spec for part in formatted if part.format_spec is not None)
    elif isinstance(node, ast.Call):
        for argument in _not_shown_arguments(node):
            yield from ast.walk(argument)


def _not_shown_arguments(call: ast.Call) -> list[ast.expr]:
    name = _called(call)
    if name in QUIET_CALLS:
        return call.args
    if name in _errors():
        return [*call.args[1:], *(keyword.value for keyword in call.keywords if keyword.arg == "detail")]
    return []


@cache
def _errors() -> frozenset[str]:
    """The engine's errors: one sentence, then technical detail."""
    return frozenset(re.findall(r"class (\w+)\(", (ROOT / ENGINE / "errors.py").read_text(encoding="utf-8")))


def _template(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return None if "{" in node.value else node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    parts, count = [], 0
    for value in node.values:
        if isinstance(value, ast.Constant):
            parts.append(str(value.value))
        else:
            parts.append(f"{{{count}}}")
            count += 1
    return "".join(parts)


def _called(node: ast.Call) -> str:
    function = node.func
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )


def all_texts() -> set[Text]:
    """Everything to translate, the engine's sentences among it."""
    return texts_of_window(ROOT / "app") | {Text(ENGINE, template) for template in templates_of_engine(ROOT / ENGINE)}


def templates_json() -> str:
    """The content of engine.json."""
    return json.dumps(templates_of_engine(ROOT / ENGINE), indent=1, ensure_ascii=False) + "\n"


def calls(texts: Iterable[Text]) -> str:
    """The texts as calls that lupdate understands, whatever form they have in the source."""
    lines = [f"translate({_quoted(t.context)}, {_quoted(t.source)}{', None, 1' * t.plural})" for t in sorted(texts)]
    return "\n".join([*lines, ""])


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def tool(name: str) -> Path:
    """A program that comes with PySide6."""
    import PySide6  # noqa: PLC0415 - reading the .ts files needs no Qt

    folder = Path(PySide6.__file__).parent
    return next(path for path in (folder / name, folder / f"{name}.exe") if path.is_file())


def update(targets: Sequence[Path], texts: Iterable[Text]) -> None:
    """Bring .ts files up to date: new texts come in unfinished, those no longer said go out."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "texts.py"
        source.write_text(calls(texts), encoding="utf-8")
        for target in targets:
            options = ["-silent", "-locations", "none", "-no-obsolete", "-disable-heuristic", "similartext"]
            if target.name == ENGLISH.name:
                options.append("-pluralonly")
            _run([str(tool("lupdate")), str(source), *options, "-ts", str(target)])


def compiled(source: Path) -> bytes:
    """The .qm file that lrelease makes of a .ts file."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.qm"
        _run([str(tool("lrelease")), "-silent", str(source), "-qm", str(target)])
        return target.read_bytes()


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or done.stderr.strip():
        raise SystemExit(f"{Path(command[0]).name} failed: {done.stdout}{done.stderr}")


@dataclass(frozen=True)
class Entry:
    """One text in a .ts file.

    Attributes:
        forms: Its translations: one, or one for each plural form of the language.
        finished: Whether it is translated.
    """

    text: Text
    forms: tuple[str, ...]
    finished: bool


def entries(path: Path) -> list[Entry]:
    """What stands in a .ts file."""
    found = []
    for context in ET.parse(path).getroot().iter("context"):  # noqa: S314 - the project's own file
        name = context.findtext("name", "")
        found += [_entry(name, message) for message in context.iter("message")]
    return found


def _entry(context: str, message: ET.Element) -> Entry:
    plural = message.get("numerus") == "yes"
    translation = message.find("translation")
    if translation is None:
        return Entry(Text(context, message.findtext("source", ""), plural), (), False)
    forms = [form.text or "" for form in translation.iter("numerusform")] if plural else [translation.text or ""]
    finished = translation.get("type") is None and all(forms)
    return Entry(Text(context, message.findtext("source", ""), plural), tuple(forms), finished)


def problems() -> list[str]:
    """What is missing, left over or wrong in the translations, one line each; none where all is well."""
    texts = all_texts()
    plurals = {text for text in texts if text.plural}
    found = [] if TEMPLATES.read_text(encoding="utf-8") == templates_json() else [f"{TEMPLATES.name} is not up to date"]
    for path, wanted in ((CHINESE, texts), (ENGLISH, plurals)):
        held = {entry.text: entry for entry in entries(path)}
        found += [f"{path.name} lacks {text}" for text in sorted(wanted - held.keys())]
        found += [f"{path.name} holds {text}, which nobody says" for text in sorted(held.keys() - wanted)]
        found += [f"{path.name}: {line}" for entry in held.values() for line in _faults(entry)]
        if path.with_suffix(".qm").read_bytes() != compiled(path):
            found.append(f"{path.with_suffix('.qm').name} was not made from {path.name}")
    return found


def _faults(entry: Entry) -> Iterator[str]:
    if not entry.finished:
        yield f"not translated: {entry.text}"
        return
    wanted = set(PLACEHOLDER.findall(entry.text.source))
    for form in entry.forms:
        held = set(PLACEHOLDER.findall(form))
        if held != wanted and not (entry.text.plural and held == wanted - {"%n", "%Ln"}):
            yield f"other values than in the source: {entry.text} -> {form}"


def main() -> int:
    """Bring everything up to date, or only say what is not."""
    parser = argparse.ArgumentParser(description="Collect and compile the translations of the window.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if anything is missing")
    if not parser.parse_args().check:
        TEMPLATES.write_text(templates_json(), encoding="utf-8")
        update((CHINESE, ENGLISH), all_texts())
        for path in (CHINESE, ENGLISH):
            path.with_suffix(".qm").write_bytes(compiled(path))
    found = problems()
    print("\n".join([*found, f"{len(found)} to do"] if found else ["All is translated."]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
