"""Stands in for `loquat models ... --json`: a real child process that says what a test wrote down for its command.

A folder holds one file for each command, `get.jsonl` say, whose lines are printed in order. A line {"wait": "name"}
waits until a file of that name lies there, or the folder is gone; {"exit": 2} ends with that code; {"error": "..."}
goes to standard error. What the child was asked is kept in `calls`, and the access token that it was given in `token`.
Without a file it does nothing, well.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def main(folder: Path, arguments: list[str]) -> int:
    with (folder / "calls").open("a", encoding="utf-8") as calls:
        print(json.dumps(arguments), file=calls)
    (folder / "token").write_text(os.environ.get("HF_TOKEN", ""), encoding="utf-8")
    script = folder / f"{arguments[1]}.jsonl"
    lines = script.read_text(encoding="utf-8").splitlines() if script.is_file() else ['{"event": "done"}']
    for line in lines:
        value = json.loads(line)
        if "exit" in value:
            return int(value["exit"])
        if "wait" in value:
            while folder.exists() and not (folder / value["wait"]).exists():
                time.sleep(0.01)
        elif "error" in value:
            print(value["error"], file=sys.stderr)
        else:
            print(line, flush=True)
    return 0


@dataclass(frozen=True)
class Commands:
    """The folder of a stand-in, as a test fills and reads it."""

    folder: Path

    @property
    def program(self) -> list[str]:
        return [sys.executable, "-I", "-S", __file__, str(self.folder)]

    def say(self, command: str, *lines: Mapping[str, Any]) -> None:
        """Let a command say these lines from now on."""
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (self.folder / f"{command}.jsonl").write_text(text, encoding="utf-8")

    def go_on(self, name: str) -> None:
        """Let whoever waits for this name go on."""
        (self.folder / name).touch()

    @property
    def calls(self) -> list[list[str]]:
        """What was asked so far, without "models"."""
        file = self.folder / "calls"
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        return [json.loads(line)[1:] for line in lines]

    @property
    def token(self) -> str:
        """What the last child was given."""
        return (self.folder / "token").read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
