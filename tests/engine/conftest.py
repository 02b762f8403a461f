"""Fixtures that several tests of the engine share."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.kv_disk import KVDisk
from tests.engine.kv_support import FINGERPRINT, NO_LIMIT, Stores


@pytest.fixture
def root(tmp_path) -> Path:
    return tmp_path / "kv"


@pytest.fixture
def disks(root):
    """Makes disks on one folder, one open at a time, and closes the last."""
    made: list[KVDisk] = []

    def make(fingerprint: str = FINGERPRINT, limit: int = NO_LIMIT) -> KVDisk:
        for disk in made:
            disk.close()
        made.append(KVDisk(root, fingerprint, limit))
        return made[-1]

    yield make
    for disk in made:
        disk.close()


@pytest.fixture
def stores(tmp_path):
    made = Stores(tmp_path / "kv")
    yield made
    made.close()
