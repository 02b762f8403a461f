"""What every test gets: a screen and a home of its own, and a look at what it leaves behind.

Qt draws offscreen, nothing goes online, LOQUAT_HOME is an empty folder. A test fails if it logs a warning that it did
not declare (`@pytest.mark.expects_log("regular expression")`), or leaves a thread or a running QTimer.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Before Qt, torch and the Hugging Face libraries read them.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that spin starve each other on a busy machine
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

import hypothesis
import platformdirs
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QLockFile, QTimer
from shiboken6 import isValid

from engine.kernels.cache_folder import kernels_root, use_cache
from engine.paths import OVERRIDE, Paths, default_paths
from tests.tiny_models import make_tiny_model

TEST_CACHE = Path(os.environ.get("LOQUAT_TEST_CACHE") or platformdirs.user_cache_path("loquat-tests"))
# Compiled CPU kernels are kept between runs and shared by every home: compiling takes longer than most tests.
os.environ.setdefault("LOQUAT_KERNELS", str(TEST_CACHE / "kernels"))
use_cache(kernels_root(TEST_CACHE))

hypothesis.settings.register_profile("local", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")

THREAD_PATIENCE_S = 3.0
MODEL_PATIENCE_MS = 280_000  # another run on this machine may be fetching the model


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need a CUDA device are skipped where there is none."""
    on_gpu = [item for item in items if item.get_closest_marker("cuda")]
    if not on_gpu:
        return
    import torch

    if not torch.cuda.is_available():
        for item in on_gpu:
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))


@pytest.fixture(autouse=True)
def loquat_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """A fresh, empty home for one test; programs that the test starts inherit it."""
    monkeypatch.setenv(OVERRIDE, str(tmp_path / "loquat-home"))
    return default_paths()


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: dict[int, logging.LogRecord] = {}

    def emit(self, record: logging.LogRecord) -> None:
        self.records[id(record)] = record  # two loggers may hand over the same one


@pytest.fixture(autouse=True)
def _no_stray_log_records(request: pytest.FixtureRequest) -> Iterator[None]:
    expected = [pattern for mark in request.node.iter_markers("expects_log") for pattern in mark.args]
    handler = _Records()
    loggers = [logging.getLogger(), logging.getLogger("transformers")]  # the latter does not propagate
    for logger in loggers:
        logger.addHandler(handler)
    yield
    for logger in loggers:
        logger.removeHandler(handler)
    lines = [f"{record.levelname} {record.name}: {record.getMessage()}" for record in handler.records.values()]
    stray = [line for line in lines if not any(re.search(pattern, line) for pattern in expected)]
    silent = [pattern for pattern in expected if not any(re.search(pattern, line) for line in lines)]
    if stray or silent:
        pytest.fail(f"unexpected log records: {stray}; expected but absent: {silent}", pytrace=False)


@pytest.fixture(autouse=True)
def _no_leftover_threads() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + THREAD_PATIENCE_S
    for thread in set(threading.enumerate()) - before:
        # tqdm's monitor lives as long as the process; the kernels are compiled once for all tests.
        if not type(thread).__module__.startswith("tqdm") and thread.name != "kernel-compiler":
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                pytest.fail(f"a thread was left running: {thread}", pytrace=False)


@pytest.fixture(autouse=True)
def _no_leftover_timers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    started: weakref.WeakSet[QTimer] = weakref.WeakSet()
    start = QTimer.start

    def remember(timer: QTimer, *arguments: Any) -> None:
        started.add(timer)
        start(timer, *arguments)

    monkeypatch.setattr(QTimer, "start", remember)
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    active = [timer for timer in started if isValid(timer) and timer.isActive()]
    names = [f"{timer.parent()!r}.{timer.objectName() or 'QTimer'}, {timer.interval()} ms" for timer in active]
    for timer in active:
        timer.stop()
    if names:
        pytest.fail(f"timers were left running: {names}", pytrace=False)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`tiny_model("llama", **config)`: the folder of a tiny random model, made once; see tests/tiny_models.py."""
    made: dict[str, Path] = {}

    def make(architecture: str, **config: Any) -> Path:
        key = repr((architecture, sorted(config.items())))
        if key not in made:
            made[key] = make_tiny_model(
                architecture, tmp_path_factory.mktemp("models") / f"tiny-{architecture}", **config
            )
        return made[key]

    return make


@pytest.fixture(scope="session")
def model_home() -> Paths:
    """A home with the default model, fetched and imported by the product itself; read-only, kept between runs.

    It lies in the user's cache, or where LOQUAT_TEST_CACHE says.
    """
    from engine.chat import RequestHandle
    from engine.models.prepare import prepare
    from engine.models.registry import Registry

    root = TEST_CACHE
    root.mkdir(parents=True, exist_ok=True)
    paths = Paths(root / "data", root / "config", root / "cache", root / "logs")
    lock = QLockFile(str(root / "lock"))
    lock.setStaleLockTime(0)
    if not lock.tryLock(MODEL_PATIENCE_MS):
        pytest.fail(f"another test run holds {root / 'lock'}", pytrace=False)
    try:
        for _ in prepare(Registry(paths.models), None, RequestHandle("model_home")):
            pass
    finally:
        lock.unlock()
    return paths


@pytest.fixture
def home_with_model(loquat_home: Paths, model_home: Paths) -> Paths:
    """A fresh home that has the default model already; the weights are links, whatever else is this test's own."""
    unfinished = shutil.ignore_patterns(".*")  # another run may be at work there
    shutil.copytree(model_home.models, loquat_home.models, ignore=unfinished, copy_function=_link)
    return loquat_home


def _link(source: str, target: str) -> None:
    if sys.platform == "win32":
        shutil.copy2(source, target)  # links need a privilege there
    else:
        Path(target).symlink_to(source)
