"""Saves a conversation's cache in the background, after its reply, and never while another is being computed."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from engine.kv_cache import KVCache
from engine.kv_disk import KVDisk


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    conversation: str
    ids: tuple[int, ...]
    cache: KVCache
    stop: threading.Event = field(default_factory=threading.Event)


class KVWriter:
    """One thread that writes one cache at a time and gives up at once when paused.

    It reads the cache's memory without a lock: the engine pauses the writer before it touches any cache, and what a
    paused job has written is thrown away.

    Args:
        disk: Where the files go.
    """

    def __init__(self, disk: KVDisk) -> None:
        self._disk = disk
        self._wake = threading.Condition()
        self._job: _Job | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="kv-writer", daemon=True)
        self._thread.start()

    def save(self, conversation: str, cache: KVCache) -> None:
        """Save this cache now; a job still waiting is replaced."""
        self.pause()
        with self._wake:
            self._job = _Job(conversation, tuple(cache.ids), cache)
            self._wake.notify_all()

    def pause(self) -> None:
        """Abandon what is being written and what waits; returns at once."""
        with self._wake:
            if self._job is not None:
                self._job.stop.set()
            self._job = None

    def wait(self, timeout_s: float = 60.0) -> bool:
        """Wait until nothing is left to write; whether that came in time."""
        with self._wake:
            return self._wake.wait_for(lambda: self._job is None, timeout_s)

    def close(self) -> None:
        """Abandon everything and join the thread."""
        self.pause()
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._closed or self._job is not None)
                job = self._job
            if job is None:
                return
            self._write(job)
            with self._wake:
                if self._job is job:
                    self._job = None
                self._wake.notify_all()

    def _write(self, job: _Job) -> None:
        length = len(job.ids)
        if length and self._disk.length_saved(job.conversation, job.ids) < length:
            self._disk.write(job.conversation, job.ids, job.cache.export(length), job.stop.is_set)
