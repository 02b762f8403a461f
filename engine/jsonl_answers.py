"""The file of answers: each is on the disk before the next is written, and a later run goes on where it ended."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final

from filelock import FileLock, Timeout

from engine.batch_values import Answer
from engine.errors import BadRequest, EngineError
from engine.jsonl_prompts import Line
from engine.models.files import os_errors

_NEWLINE: Final = b"\n"
_BEGINNING: Final = b'{"id": '  # of every record, so that a torn one is told from what is not ours


class AnswerFile:
    """Holds at most one record for each line of the input, and is in the input's order once it is complete.

    Two programs never write to one file: the second is refused.

    Args:
        path: Made if it is not there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = FileLock(f"{path}.lock")
        self._keys: dict[int, str] = {}
        self._failed: set[int] = set()
        self._file: BinaryIO | None = None

    def __enter__(self) -> AnswerFile:
        """Take what is there already.

        Raises:
            BadRequest: It is no such file, or another program writes to it.
        """
        with os_errors("write the answers", self._path.parent):
            try:
                self._lock.acquire(timeout=0)
            except Timeout as error:
                raise BadRequest(
                    f"Another program writes to {self._path}; wait for it, or name another file."
                ) from error
        try:
            self._open()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._close()
        except EngineError:
            if error is None:  # else what could not be written was said before, and closing tries it once more
                raise
        finally:
            Path(self._lock.lock_file).unlink(missing_ok=True)
            self._lock.release()

    def holds(self, line: Line) -> bool:
        """Whether a line has its record.

        Raises:
            BadRequest: There is a record for another line in its place: the input, model or sampling was another.
        """
        key = self._keys.get(line.number)
        if key is not None and key != line.key:
            raise BadRequest(
                f"{self._path} holds answers to other prompts, of another model or with other sampling; "
                "name another file, or remove it."
            )
        return key is not None

    @property
    def failed(self) -> int:
        """How many lines have an error in place of an answer."""
        return len(self._failed)

    def add(self, line: Line, answer: Answer | None) -> None:
        """Write a line's record: its answer, or its error if it has none."""
        assert self._file is not None  # noqa: S101 - it is entered
        record = _record(line, answer)
        with os_errors("write the answers", self._path.parent):
            self._file.write(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + _NEWLINE)
            self._file.flush()
            os.fsync(self._file.fileno())
        self._note(record)

    def sort(self) -> None:
        """Put all records into the input's order: whole, or not at all."""
        assert self._file is not None  # noqa: S101 - it is entered
        fresh = self._path.with_name(self._path.name + ".new")
        with os_errors("write the answers", self._path.parent):
            with self._path.open("rb") as file:
                records = sorted(file, key=lambda raw: self._parsed(raw)["line"])
            with fresh.open("wb") as file:
                file.writelines(records)
                file.flush()
                os.fsync(file.fileno())
            self._file.close()
            fresh.replace(self._path)
            self._file = self._path.open("ab")

    def _open(self) -> None:
        with os_errors("write the answers", self._path.parent):
            self._path.touch()
            self._take()
            self._file = self._path.open("ab")

    def _close(self) -> None:
        if self._file is not None:
            with os_errors("write the answers", self._path.parent):
                self._file.close()

    def _note(self, record: Mapping[str, Any]) -> None:
        self._keys[record["line"]] = record["key"]
        if "error" in record:
            self._failed.add(record["line"])

    def _take(self) -> None:
        """Note all records, and cut off a last line that was torn when a run was killed.

        A file that is not ours is left as it is.
        """
        whole = 0
        with self._path.open("rb") as file:
            for raw in file:
                if raw.endswith(_NEWLINE):
                    self._note(self._parsed(raw))
                    whole += len(raw)
                elif not (raw.startswith(_BEGINNING) or _BEGINNING.startswith(raw)):
                    raise self._foreign()
        os.truncate(self._path, whole)

    def _parsed(self, raw: bytes) -> Mapping[str, Any]:
        try:
            record: Mapping[str, Any] = json.loads(raw)
            if isinstance(record["key"], str) and isinstance(record["line"], int):
                return record
        except (ValueError, KeyError, TypeError) as error:
            raise self._foreign() from error
        raise self._foreign()

    def _foreign(self) -> BadRequest:
        return BadRequest(f"{self._path} is there already and holds something else; name another file.")


def _record(line: Line, answer: Answer | None) -> dict[str, Any]:
    record: dict[str, Any] = {"id": line.id, "line": line.number, "key": line.key}
    error = line.error or (answer.error if answer is not None else "")
    if error or answer is None or answer.reason is None:
        record["error"] = error
    else:
        record["text"] = answer.text
        record["finish_reason"] = answer.reason.value
        record["prompt_tokens"], record["completion_tokens"] = answer.prompt_tokens, answer.completion_tokens
    return record
