"""The program behind the window, whole, with a scripted worker in place of the engine's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app import i18n
from app.assistants import Assistants
from app.chats import Chats
from app.conductor import Program
from app.desktop import Desktop
from app.engine_bridge import EngineBridge
from app.experiments import Experiments
from app.live import LiveTurn, ModelState, Notice
from app.model_shelf import ModelShelf
from app.records import StoredMessage
from app.remote_servers import RemoteServers
from app.search import Search
from app.serving import Serving
from app.session import Session
from app.settings import Settings
from app.store import Store, open_store
from app.theme import Theme
from engine.events import InstalledModel
from engine.paths import Paths
from tests.app.fake_worker import FakeWorker, Load, Reply
from tests.app.model_commands import Commands


@dataclass
class World:
    """Store, bridge, settings and chats of one home, and a record of what they told."""

    worker: FakeWorker
    store: Store
    bridge: EngineBridge
    settings: Settings
    chats: Chats
    notices: list[Notice] = field(default_factory=list)
    models: list[ModelState] = field(default_factory=list)
    conductor: Any = None  # set where there is a window
    parts: Program | None = None
    commands: Commands | None = None  # in place of the model commands

    @property
    def session(self) -> Session:
        assert self.chats.current is not None
        return self.chats.current

    def program(self, theme: Theme) -> Program:
        """What a window is connected to."""
        if self.parts is None:
            search, experiments = Search(self.store.path), Experiments(self.bridge)
            self.bridge.arrived.connect(experiments.apply, Qt.ConnectionType.QueuedConnection)
            assistants = Assistants(self.store.path.with_name("assistants.json"))
            servers = RemoteServers(self.store.path.with_name("servers.json"), self.bridge.keys)
            parts = (
                self.chats,
                self.store,
                self.settings,
                search,
                assistants,
                experiments,
                servers,
                Serving(self.bridge),
                ModelShelf(self.chats, self.bridge.keys),
            )
            self.parts = Program(*parts, theme, self.store.path.parent)
            folder = self.store.path.with_name("model-commands")
            folder.mkdir(exist_ok=True)  # from before a restart
            self.commands = Commands(folder)
            self.parts.shelf.jobs.program = self.commands.program
        return self.parts

    def close(self) -> None:
        if self.conductor is not None:
            self.conductor.transfers.close()
        if self.parts is not None:
            self.parts.shelf.close()
        self.chats.shutdown()
        assert self.bridge.close()
        if self.parts is not None:
            assert self.parts.search.close()
            self.parts.servers.close()
            assert self.parts.serving.close()
            self.parts.assistants.save()
        assert self.store.close()
        self.settings.save()


@pytest.fixture(scope="session", autouse=True)
def english(qapp: QApplication) -> None:
    """The words of English, which a plural needs: without them "%n chats" would be said of one too."""
    i18n.install(qapp, i18n.ENGLISH)


class Recorder:
    """What a session told, in order."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.added: list[StoredMessage] = []
        self.finished: list[StoredMessage] = []
        self.texts: list[tuple[str, str]] = []
        self.lives: list[LiveTurn] = []
        self.failures: list[tuple[str, str]] = []
        self.refusals: list[str] = []
        session.message_added.connect(self.added.append)
        session.message_finished.connect(self.finished.append)
        session.text_appended.connect(lambda *what: self.texts.append(what))
        session.turn_changed.connect(self.lives.append)
        session.failed.connect(lambda *what: self.failures.append(what))
        session.refused.connect(self.refusals.append)

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.texts)

    @property
    def phases(self) -> list[str]:
        """The phases passed through, each once."""
        all_phases = [live.phase for live in self.lives]
        return [phase for i, phase in enumerate(all_phases) if i == 0 or all_phases[i - 1] != phase]


@pytest.fixture(scope="session")
def the_theme(qapp: QApplication) -> Theme:
    return Theme(qapp, "light")


@pytest.fixture
def theme(the_theme: Theme) -> Theme:
    """The program's look, light; one for all tests, because it belongs to the application."""
    the_theme.set_choice("light")
    return the_theme


@pytest.fixture
def make_world(qtbot: Any, loquat_home: Paths) -> Iterator[Callable[..., World]]:
    """`make_world(*replies, loads=(...))`: a world in this test's home, the list restored, no model asked for."""
    made: list[World] = []

    def make(*replies: Reply, loads: tuple[Load, ...] = (), new: bool = False) -> World:
        store, sentence = open_store(loquat_home.database)
        assert sentence == ""
        settings = Settings(loquat_home.config / "settings.json")
        bridge = EngineBridge(lambda emit: FakeWorker(emit, replies, loads))
        world = World(bridge._worker, store, bridge, settings, Chats(store, bridge, settings))
        world.chats.notice.connect(world.notices.append)
        world.chats.model_changed.connect(world.models.append)
        made.append(world)
        world.chats.restore(new)
        return world

    yield make
    for world in made:
        if world.worker.thread.is_alive():
            world.close()


@pytest.fixture
def ready_world(make_world: Callable[..., World], qtbot: Any) -> Callable[..., World]:
    """Like `make_world`, with the model loaded."""

    def make(*replies: Reply, **values: Any) -> World:
        world = make_world(*replies, **values)
        world.chats.load_model(None)
        qtbot.waitUntil(lambda: world.chats.model.phase == "ready")
        return world

    return make


@pytest.fixture
def make_desktop(qtbot: Any, qapp: QApplication, loquat_home: Paths) -> Iterator[Callable[..., Desktop]]:
    """`make_desktop(*replies, worker=FakeWorker, models=(...))`: the whole program in this test's home, not shown."""
    made: list[Desktop] = []

    def make(
        *replies: Reply, worker: type[FakeWorker] = FakeWorker, models: Sequence[InstalledModel] | None = None
    ) -> Desktop:
        desktop = Desktop(qapp, loquat_home, partial(worker, replies=replies))
        if models is not None:
            desktop.bridge._worker.models = list(models)
        made.append(desktop)
        return desktop

    yield make
    for desktop in made:
        desktop.window.close()
        if desktop.bridge._worker.thread.is_alive():
            assert desktop.close()
        desktop.window.deleteLater()
        desktop.theme.deleteLater()


@pytest.fixture
def ready_desktop(make_desktop: Callable[..., Desktop], qtbot: Any) -> Callable[..., Desktop]:
    """Like `make_desktop`, shown and with the model loaded."""

    def make(*replies: Reply, **values: Any) -> Desktop:
        desktop = make_desktop(*replies, **values)
        desktop.show()
        qtbot.waitUntil(lambda: desktop.chats.model.phase == "ready")
        return desktop

    return make
