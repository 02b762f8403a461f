"""A store, and jobs that are run to their end."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from app.store import Store
from app.transfer.importing import import_job


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "conversations.sqlite3")
    yield made
    assert made.close()


@pytest.fixture
def run(qtbot):
    """`run(job)`: its result, its progress, once it has ended."""

    def run(job):
        steps = []
        job.progress.connect(lambda done, total: steps.append((done, total)))
        with qtbot.waitSignal(job.finished, timeout=60_000) as told:
            job.start()
        assert job.close()
        assert not job.running
        return SimpleNamespace(**{name: getattr(told.args[0], name) for name in told.args[0].__slots__}, steps=steps)

    return run


@pytest.fixture
def take(store, run, tmp_path):
    """`take(value)`: imports a value as a JSON file, or bytes as they are."""

    def take(value, name="file.json"):
        path = tmp_path / name
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        return run(import_job(store, path))

    return take


@pytest.fixture
def thread(store):
    """`thread()`: the branch that is shown of the only conversation, as pairs of role and text."""

    def thread():
        (talk,) = (*store.conversations(), *store.archived())
        return [(message.role, message.content) for message in store.tree(talk.id).thread()]

    return thread
