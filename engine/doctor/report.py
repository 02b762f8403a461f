"""What the doctor found, as frozen values, and how it is said. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

_WIDTH: Final = 12


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, or worth knowing.

    Attributes:
        sentence: What it is and what to do, for people.
        command: What to type to mend it; empty where no command does.
        wrong: Whether something does not work because of it.
    """

    sentence: str
    command: str = ""
    wrong: bool = True


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the report.

    Attributes:
        name: Of the part, and of its key in JSON.
        lines: What it is, for people.
        values: The same as plain JSON values.
        findings: What is wrong there, or worth knowing.
    """

    name: str
    lines: tuple[str, ...]
    values: Mapping[str, Any]
    findings: tuple[Finding, ...] = field(default=())


def is_well(parts: tuple[Part, ...]) -> bool:
    """Whether nothing is wrong."""
    return not any(finding.wrong for part in parts for finding in part.findings)


def as_text(parts: tuple[Part, ...]) -> str:
    """The report for people."""
    lines = [line for part in parts for line in _part_lines(part)]
    findings = [finding for part in parts for finding in part.findings]
    wrong = [finding for finding in findings if finding.wrong]
    notes = [finding for finding in findings if not finding.wrong]
    lines.append("")
    lines += [line for finding in notes for line in _finding_lines("Note: ", finding)]
    lines += [line for finding in wrong for line in _finding_lines("Wrong: ", finding)]
    if not wrong:
        lines.append("Nothing is wrong.")
    return "\n".join(lines)


def as_json(parts: tuple[Part, ...]) -> str:
    """The report for programs: one object, its findings in a list."""
    findings = [
        {"part": part.name, "wrong": finding.wrong, "sentence": finding.sentence, "command": finding.command}
        for part in parts
        for finding in part.findings
    ]
    whole = {"well": is_well(parts), "findings": findings, **{part.name: dict(part.values) for part in parts}}
    return json.dumps(whole, indent=2)  # in ASCII, which every encoding of a pipe can take


def without_home(text: str, home: Path) -> str:
    """A report in which the person's folder, and so their name, is called ~."""
    name = str(home)
    if len(home.parts) < 2:
        return text  # the root: every path begins with it
    escaped = json.dumps(name)[1:-1]  # as it stands in JSON, where that differs
    return text.replace(escaped, "~").replace(name, "~")


def _part_lines(part: Part) -> Iterator[str]:
    for number, line in enumerate(part.lines):
        yield f"{part.name if number == 0 else '':<{_WIDTH}}{line}"


def _finding_lines(kind: str, finding: Finding) -> Iterator[str]:
    yield f"{kind}{finding.sentence}"
    if finding.command:
        yield f"    {finding.command}"
