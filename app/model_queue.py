"""Downloads and imports, one at a time, in order: they go on while no dialog shows them, and wait when paused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.model_jobs import ModelJob, ModelJobs
from app.model_offers import Failure, Progress, Task, paused


class ModelQueue(QObject):
    """The tasks, each as the window shows it. What an earlier run did not end comes back by `read`, paused.

    Args:
        jobs: Does them.
    """

    changed = Signal(object)  # tuple of Task
    done = Signal(object, str, str)  # Task, the name of the model that is there now, its label if it was there before
    failed = Signal(object)  # Task

    def __init__(self, jobs: ModelJobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._tasks: tuple[Task, ...] = ()
        self._job: ModelJob | None = None

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All that are not done."""
        return self._tasks

    @property
    def running(self) -> Task | None:
        """The one under way."""
        return next((task for task in self._tasks if task.state == "running"), None)

    def get(self, task_id: str) -> Task | None:
        """One of them."""
        return next((task for task in self._tasks if task.id == task_id), None)

    def read(self) -> None:
        """Ask which downloads an earlier run left unfinished; they are added as paused."""
        self._jobs.run(("models", "downloads", "--json"), self._left_over, lambda _failure: None)

    def add(self, task: Task) -> None:
        """Let something be done, after what waits already; one that is there takes the new wishes over."""
        held = self.get(task.id)
        if held is not None and held.state == "running":
            return
        task = replace(task, state="waiting", progress=held.progress if held else Progress())
        if held is None:
            self._set((*self._tasks, task))
        else:
            self._put(task)
        self._go_on()

    def resume(self, task_id: str) -> None:
        """Go on with one that was paused or failed."""
        if (task := self.get(task_id)) is not None:
            self.add(replace(task, failure=None))

    def pause(self, task_id: str) -> None:
        """Let one wait until it is resumed; what was downloaded stays."""
        task = self.get(task_id)
        if task is not None and task.state == "waiting":
            self._put(replace(task, state="paused"))
        elif task is not None and task.state == "running" and self._job is not None:
            self._job.pause()

    def cancel(self, task_id: str) -> None:
        """Give one up, and drop what was downloaded of it."""
        task = self.get(task_id)
        if task is None:
            return
        was_running = task.state == "running"
        self._set(tuple(each for each in self._tasks if each.id != task_id))
        if was_running and self._job is not None:
            self._job.pause()  # and then forgotten, when it has ended
        elif task.kind == "get":
            self._forget(task)

    def _left_over(self, value: dict[str, Any]) -> None:
        known = {task.reference for task in self._tasks}
        new = tuple(task for task in paused(value) if task.reference not in known)
        if new:
            self._set((*self._tasks, *new))

    def _go_on(self) -> None:
        """Begin with the next one, if nothing is under way."""
        task = next((task for task in self._tasks if task.state == "waiting"), None)
        if self._job is not None or task is None:
            return
        self._put(replace(task, state="running", failure=None))
        self._job = self._jobs.run(
            task.arguments, lambda value: self._ended(task, value), lambda failure: self._broke(task, failure)
        )
        self._job.progressed.connect(lambda progress: self._progressed(task.id, progress))

    def _progressed(self, task_id: str, progress: Progress) -> None:
        if (task := self.get(task_id)) is not None:
            self._put(replace(task, progress=progress))

    def _ended(self, begun: Task, value: dict[str, Any]) -> None:
        self._job = None
        task = self.get(begun.id) or begun
        self._set(tuple(each for each in self._tasks if each.id != task.id))
        already = str(value.get("label", "")) if value.get("already") is True else ""
        self.done.emit(task, str(value.get("name", "")), already)
        self._go_on()

    def _broke(self, begun: Task, failure: Failure) -> None:
        self._job = None
        task = self.get(begun.id)
        if task is None:  # given up by the person
            if begun.kind == "get":
                self._forget(begun)
        elif task.state == "running":  # else it was given up, and wanted again before the command had ended
            self._rest(task, failure)
        self._go_on()

    def _rest(self, task: Task, failure: Failure) -> None:
        if failure.kind == "cancelled":
            self._put(replace(task, state="paused"))
            return
        broken = replace(task, state="failed", failure=failure)
        self._put(broken)
        self.failed.emit(broken)

    def _forget(self, task: Task) -> None:
        self._jobs.run(("models", "forget", task.reference, "--json"), lambda _value: None, lambda _failure: None)

    def _put(self, task: Task) -> None:
        self._set(tuple(task if each.id == task.id else each for each in self._tasks))

    def _set(self, tasks: tuple[Task, ...]) -> None:
        self._tasks = tasks
        self.changed.emit(tasks)
