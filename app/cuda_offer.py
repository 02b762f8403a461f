"""Offers once a start to fetch torch for NVIDIA GPUs, where Loquat was installed for them and such a GPU is there."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QDeadlineTimer, QObject

from app.i18n import translate
from app.live import Notice
from app.model_jobs import PATIENCE_MS, ModelJob
from app.model_offers import Failure, Progress
from app.views import words
from engine.cuda_pack import CudaSource, read_source, unpacked_version
from engine.nvidia import nvidia_driver
from engine.own_command import own_command
from engine.paths import Paths


class CudaOffer(QObject):
    """Nothing is fetched unless the person asks for it; the download is a child process, and can be given up.

    Args:
        paths: Where it would lie.
        say: Shows a notice.
    """

    def __init__(self, paths: Paths, say: Callable[[Notice], object], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._paths = paths
        self._say = say
        self._job: ModelJob | None = None
        self._told = -1

    def begin(self) -> None:
        """Say what could be done, if anything."""
        source = read_source()
        if source is not None and nvidia_driver() and unpacked_version(self._paths) != source.version:
            self._offer(source)

    def close(self) -> None:
        """End the download; what came of it stays."""
        if self._job is not None:
            self._job.pause()
            self._job.wait(QDeadlineTimer(PATIENCE_MS))

    def _offer(self, source: CudaSource) -> None:
        sentence = translate("cuda_offer", "There is an NVIDIA GPU. To use it, Loquat needs to fetch {size} once.")
        label = translate("cuda_offer", "Fetch it")
        self._say(Notice(sentence.format(size=words.size(source.nbytes)), action_label=label, action=self._fetch))

    def _fetch(self) -> None:
        if self._job is not None:
            return
        self._told = -1
        self._job = job = ModelJob(own_command(), ["cuda", "install", "--json"], parent=self)
        job.progressed.connect(self._progressed)
        job.done.connect(self._done)
        job.failed.connect(self._failed)
        job.start()

    def _progressed(self, progress: Progress) -> None:
        """Tell each tenth of it: it takes long, and the person goes on chatting."""
        tenth = 10 * progress.done // progress.total if progress.total else 0
        if tenth != self._told:
            self._told = tenth
            self._say(Notice(progress.sentence, action_label=translate("cuda_offer", "Cancel"), action=self._cancel))

    def _cancel(self) -> None:
        """Give it up; the window does not wait for the child's end."""
        if self._job is not None:
            self._job.pause()

    def _done(self, _end: object) -> None:
        self._job = None
        self._say(Notice(translate("cuda_offer", "The GPU is used from the next start of Loquat on.")))

    def _failed(self, failure: Failure) -> None:
        self._job = None
        if failure.sentence:
            again = translate("cuda_offer", "Try again")
            self._say(Notice(failure.sentence, failure.detail, action_label=again, action=self._fetch))
