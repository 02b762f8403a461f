"""Saves conversations' caches in the background, after a reply, and never while another is being computed."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from engine.chat import TRANSIENT
from engine.kv_cache import KVCache
from engine.kv_disk import KVDisk

_log = logging.getLogger(__name__)


def save(disk: KVDisk, conversation: str, cache: KVCache, stop: Callable[[], bool] = lambda: False) -> None:
    """Put a cache on disk unless it is there already, or is not to be kept."""
    if conversation.startswith(TRANSIENT):
        return
    if cache.ids and not disk.holds(conversation, cache.ids, exactly=cache.stateful):
        disk.write(conversation, cache.snapshot(), stop)


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    conversation: str
    cache: KVCache
    stop: threading.Event = field(default_factory=threading.Event)


class KVWriter:
    """One thread that writes one cache after the other and gives up at once when paused.

    It reads the caches' memory without a lock: the engine pauses the writer before it touches any cache, and what a
    paused job has written is thrown away.

    Args:
        disk: Where the files go.
    """

    def __init__(self, disk: KVDisk) -> None:
        self._disk = disk
        self._wake = threading.Condition()
        self._jobs: deque[_Job] = deque()
        self._running: _Job | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="kv-writer", daemon=True)
        self._thread.start()

    def save(self, caches: Iterable[tuple[str, KVCache]]) -> None:
        """Save these conversations' caches now, in this order; jobs still waiting are replaced."""
        self.pause()
        with self._wake:
            self._jobs.extend(_Job(conversation, cache) for conversation, cache in caches)
            self._wake.notify_all()

    def pause(self) -> None:
        """Abandon what is being written and what waits; returns at once."""
        with self._wake:
            self._jobs.clear()
            if self._running is not None:
                self._running.stop.set()

    def wait(self, timeout_s: float = 60.0) -> bool:
        """Wait until nothing is left to write and no file is open; whether that came in time."""
        with self._wake:
            return self._wake.wait_for(lambda: not self._jobs and self._running is None, timeout_s)

    def close(self) -> None:
        """Abandon everything and join the thread."""
        self.pause()
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while self._take():
            self._write()
            with self._wake:
                self._running = None
                self._wake.notify_all()

    def _take(self) -> bool:
        """Wait for the next job; False when there will be none."""
        with self._wake:
            self._wake.wait_for(lambda: self._closed or bool(self._jobs))
            self._running = self._jobs.popleft() if self._jobs else None
            return self._running is not None

    def _write(self) -> None:
        job = self._running  # no longer than the job lasts: it holds a cache
        if job is None:
            return
        try:
            save(self._disk, job.conversation, job.cache, job.stop.is_set)
        except Exception:
            # A cache that the engine changes meanwhile can fail in any way, and what is written of it is not wanted.
            if not job.stop.is_set():
                _log.exception("A conversation's cache was not saved")
