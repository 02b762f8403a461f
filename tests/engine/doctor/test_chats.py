"""Databases of chats in versions that this program does and does not know."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from app.migrations import STEPS
from app.store import Store
from engine.cli_doctor import examine
from engine.doctor.chats import KNOWN, chats_part, schema_version
from engine.doctor.report import is_well
from engine.paths import Paths

# A program that is killed while a change is in the log alone.
KILLED = """
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA journal_mode = WAL")
db.execute("PRAGMA user_version = 99")
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    Store(tmp_path / "chats.sqlite3").close()
    return tmp_path / "chats.sqlite3"


def test_the_doctor_knows_as_many_versions_as_the_ladder_has_steps(database: Path) -> None:
    assert len(STEPS) == KNOWN
    assert schema_version(database) == KNOWN
    assert is_well((chats_part(KNOWN),))


def test_chats_of_a_newer_version_are_told_and_nothing_is_changed(database: Path) -> None:
    db = sqlite3.connect(database)
    db.execute("PRAGMA user_version = 99")
    db.close()
    before = {file.name: file.read_bytes() for file in database.parent.iterdir()}
    part = chats_part(schema_version(database))
    assert {file.name: file.read_bytes() for file in database.parent.iterdir()} == before
    assert not is_well((part,))
    assert part.values == {"schema": 99, "known": KNOWN}
    assert "saved by a newer version of Loquat" in part.findings[0].sentence


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot kill itself there")
def test_a_version_that_is_in_the_log_alone_is_read(database: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(database)], check=False, env=os.environ)
    log = database.with_name(f"{database.name}-wal")
    before = database.read_bytes(), log.read_bytes()
    assert schema_version(database) == 99
    assert (database.read_bytes(), log.read_bytes()) == before


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"no database at all, but long enough to be one" * 4])
def test_what_is_no_database_is_no_finding_of_this(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "chats").write_bytes(content)
    assert schema_version(tmp_path / "chats") is None
    assert schema_version(tmp_path / "nowhere") is None
    assert is_well((chats_part(None),))


def test_the_report_tells_of_each_thing_once(loquat_home: Paths) -> None:
    loquat_home.data.mkdir(parents=True)
    Store(loquat_home.database).close()
    db = sqlite3.connect(loquat_home.database)
    db.execute("PRAGMA user_version = 99")
    db.close()
    parts = examine(loquat_home)
    names = [part.name for part in parts]
    assert len(set(names)) == len(names)
    assert sum("newer version" in finding.sentence for part in parts for finding in part.findings) == 1
