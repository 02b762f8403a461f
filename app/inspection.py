"""Feeds the inspector: the turn that is running, the turn that was chosen, memory, experiments and the log of turns."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer, SignalInstance
from PySide6.QtWidgets import QFileDialog

from app.chats import Chats
from app.engine_sentences import translated
from app.experiments import Experiments
from app.i18n import translate
from app.live import LiveTurn, ModelState, Notice
from app.live_trace import live_trace, stats_trace
from app.migrations import StoreError
from app.session import Session
from app.store import Store
from app.theme import Theme
from app.turn_log import LoggedTurn, as_csv
from app.turn_reader import TurnReader
from app.views.inspector.cache_page import CachePage
from app.views.inspector.history_page import HistoryPage
from app.views.inspector.memory_page import MemoryPage
from app.views.inspector.tokens_dialog import TokensDialog
from app.views.inspector.turns_dialog import TurnsDialog
from app.views.main_window import MainWindow
from engine.atomic import write_atomically
from engine.errors import EngineError
from engine.explain.figures import ratio
from engine.explain.plan import turns_left
from engine.explain.trace import ModelFacts, PrefixBreak, TurnTrace, from_json, to_json
from engine.explain.verdict import verdict

LIVE_MS: Final = 250
_KEPT: Final = 100  # traces in memory


class Inspection(QObject):
    """Draws only what is on view: a folded inspector costs nothing."""

    def __init__(
        self, window: MainWindow, chats: Chats, store: Store, experiments: Experiments, *, theme: Theme, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._window = window
        self._chats = chats
        self._store = store
        self._experiments = experiments
        self._theme = theme
        self._session: Session | None = None
        self._message_id = ""
        self._latest: dict[str, TurnTrace] = {}  # of this run: what is just being written cannot be read back yet
        self._measured_for = ""
        self._memory = MemoryPage(theme, window.inspector)
        self._cache = CachePage(theme, window.inspector)
        self._history = HistoryPage(theme, window.inspector)
        # Each wish has its own: a turn that ends, and draws the page anew, must not take the table away.
        self._log = TurnReader(store, self)
        self._table_log = TurnReader(store, self)
        self._exports: list[TurnReader] = []  # each is brought to its end, also where another has begun
        self._timer = QTimer(self)
        self._timer.setInterval(LIVE_MS)
        self._soon = QTimer(self)  # several things come with the end of a turn, after which all is drawn once
        self._soon.setSingleShot(True)
        self._connect()

    def _connect(self) -> None:
        inspector = self._window.inspector
        for name, label, page in (
            ("memory", translate("inspection", "Memory"), self._memory),
            ("cache", translate("inspection", "Cache"), self._cache),
            ("history", translate("inspection", "Over time"), self._history),
        ):
            inspector.add_page(name, label, page)
        inspector.page_chosen.connect(self.refresh)
        inspector.turn.compare_tokens_requested.connect(self._show_tokens)
        self._window.inspector_toggled.connect(self._toggled)
        self._window.chat.explain_requested.connect(self.show_turn)
        self._cache.compare_requested.connect(self._compare)
        self._cache.cancel_requested.connect(self._experiments.cancel)
        self._history.table_requested.connect(self.show_table)
        self._history.export_requested.connect(self.export_turns)
        self._log.made.connect(self._draw_history)
        self._table_log.made.connect(self._open_table)
        for reader in (self._log, self._table_log):
            reader.failed.connect(self._say)
        self._experiments.progressed.connect(self._cache.show_progress)
        self._experiments.compared.connect(self._cache.show_comparison)
        self._experiments.profiled.connect(self.refresh)
        self._experiments.told.connect(self._say)
        self._experiments.failed.connect(self._say)
        self._chats.model_changed.connect(self._model_changed)
        self._timer.timeout.connect(self._tick)
        self._soon.timeout.connect(self.refresh)

    # -- which turn --------------------------------------------------------------------------------------------

    def follow(self, session: Session) -> None:
        """Another conversation is on view: show its last turn."""
        self._timer.stop()
        if self._session is not None:
            for signal, slot in self._followed(self._session):
                signal.disconnect(slot)
            if session is not self._session:
                self._experiments.cancel()  # what it compares is of the chat that was left
        self._session = session
        for signal, slot in self._followed(session):
            signal.connect(slot)
        self._message_id = ""
        if session.turn is not None:
            self._timer.start()
        self._cache.show_comparison(None)
        self.refresh()

    def show_turn(self, message_id: str) -> None:
        """Show how this answer was made; an open inspector is not needed for it."""
        self._message_id = message_id
        self._window.show_inspector(True)
        self._window.inspector.show_page("turn")
        self.refresh()

    def show_last_turn(self) -> None:
        """Show how the last answer was made."""
        self.show_turn("")

    def compare(self) -> None:
        """Show the page of the cache, and compare with and without it there."""
        self._window.show_inspector(True)
        self._window.inspector.show_page("cache")
        self._compare()

    def refresh(self) -> None:
        """Draw what is on view afresh."""
        self._log.cancel()
        if not self._window.inspector_shown or self._session is None:
            return
        draw = {"turn": self._show_turn, "memory": self._show_memory, "history": self._show_history}
        draw.get(self._window.inspector.page, lambda: None)()

    def close(self) -> bool:
        """End what is being read or written; whether it ended in time. Before the store is closed."""
        ended = [reader.close() for reader in (self._log, self._table_log, *self._exports)]
        return all(ended)

    def _followed(self, session: Session) -> tuple[tuple[SignalInstance, Callable[..., None]], ...]:
        return (
            (session.turn_changed, self._turn_changed),
            (session.traced, self._traced),
            (session.thread_changed, self.refresh),
        )

    def _toggled(self, shown: bool) -> None:
        if shown:
            self._model_changed(self._chats.model)
        self.refresh()

    def _turn_changed(self, live: LiveTurn) -> None:
        """A turn began or ended: its figures are drawn a few times a second, not with every token."""
        if live.phase == "idle":
            if self._timer.isActive():
                self._timer.stop()
                self._soon.start(0)
        elif not self._timer.isActive():
            self._message_id = ""
            self._timer.start()

    def _traced(self, message_id: str, trace: TurnTrace) -> None:
        session, ended = self._session, time.perf_counter()
        if session is None:
            return
        self._keep(message_id, trace)
        QTimer.singleShot(0, self, lambda: self._on_screen(message_id, ended))

    def _on_screen(self, message_id: str, ended: float) -> None:
        """The end of the answer has been painted: the window's share of the turn is known, and kept with the rest."""
        trace = self._latest[message_id].with_drawing(time.perf_counter() - ended)
        self._keep(message_id, trace)
        self._store.save_trace(message_id, to_json(trace))
        self._soon.start(0)

    def _keep(self, message_id: str, trace: TurnTrace) -> None:
        """Remember how an answer was made, and forget the one that has been remembered longest."""
        self._latest[message_id] = trace
        if len(self._latest) > _KEPT:
            del self._latest[next(iter(self._latest))]

    def _tick(self) -> None:
        if self._window.inspector_shown and self._window.inspector.page == "turn":
            self._show_turn()

    # -- pages -------------------------------------------------------------------------------------------------

    def _show_turn(self) -> None:
        page, session = self._window.inspector.turn, self._session
        turn = session.turn if session is not None and not self._message_id else None
        if turn is not None:
            page.show_trace(live_trace(turn, time.perf_counter()))
            page.show_verdict("", "")
            return
        trace = self._trace()
        messages = session.messages() if session is not None else ()
        last = messages[-1] if messages else None
        page.show_trace(trace, _screen_rate(trace), asked=last.role if last is not None else "")
        if trace is None:
            return
        if not trace.token_times and trace.generated_tokens > 1:
            page.show_verdict("", "")  # only its figures were kept: what bound it is not to be seen in them
            return
        found = verdict(trace, self._experiments.profile)
        page.show_verdict(translated(found.sentence), translated(found.help))

    def _show_memory(self) -> None:
        trace = self._trace()
        if trace is None:
            self._memory.show_memory(None, ModelFacts(), 0, None)
            return
        tokens = trace.kv.after.tokens
        left = turns_left(self._totals(), trace.model.context_limit)
        self._memory.show_memory(trace.memory, trace.model, tokens, left)

    def _show_history(self) -> None:
        self._log.ask(self._labels())

    def _draw_history(self, turns: tuple[LoggedTurn, ...]) -> None:
        if self._session is not None:
            self._history.show_turns(turns, self._session.conversation.id)

    def _labels(self) -> dict[str, str]:
        """What people call the models."""
        return {model.name: model.label for model in self._chats.models.models}

    def _trace(self) -> TurnTrace | None:
        """How the chosen answer was made, or the last one that is known."""
        message_id = self._message_id or self._last_reply_id()
        if not message_id:
            return None
        if message_id not in self._latest:
            trace = self._stored_trace(message_id)
            if trace is None:
                return self._figures_of(message_id)
            self._keep(message_id, trace)
        return self._latest[message_id]

    def _stored_trace(self, message_id: str) -> TurnTrace | None:
        try:
            text = self._store.trace(message_id)
        except StoreError as error:
            self._say(error.sentence, error.detail)
            return None
        return from_json(text) if text else None

    def _figures_of(self, message_id: str) -> TurnTrace | None:
        """What is known of an answer that was not traced."""
        messages = self._session.messages() if self._session is not None else ()
        stats = next((message.stats for message in messages if message.id == message_id), None)
        return None if stats is None else stats_trace(stats)

    def _last_reply_id(self) -> str:
        messages = self._session.messages() if self._session is not None else ()
        return next((m.id for m in reversed(messages) if m.role == "assistant" and m.stats is not None), "")

    def _totals(self) -> list[int]:
        """Tokens of the conversation on view after each of its turns."""
        messages = self._session.messages() if self._session is not None else ()
        stats = (message.stats for message in messages if message.stats is not None)
        return [each.prompt_tokens + each.completion_tokens for each in stats]

    # -- experiments, dialogs ----------------------------------------------------------------------------------

    def _model_changed(self, model: ModelState) -> None:
        """Measure the machine once for each way in which a model is loaded, and only where somebody looks."""
        if model.phase != "ready" or model.info is None or not self._window.inspector_shown:
            return
        key = f"{model.info.name} {model.info.device} {model.info.dtype} {model.info.runner}"
        if key != self._measured_for:
            self._measured_for = key
            self._experiments.measure()

    def _compare(self) -> None:
        self._experiments.compare(self._session, self._chats.model.phase == "ready")

    def _show_tokens(self, found: PrefixBreak) -> None:
        dialog = TokensDialog(self._theme, found, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def show_table(self) -> None:
        """Show the turns of all chats in a table."""
        self._table_log.ask(self._labels())

    def _open_table(self, turns: tuple[LoggedTurn, ...]) -> None:
        dialog = TurnsDialog(self._theme, turns, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.turn_chosen.connect(self._open_turn)
        dialog.turn_chosen.connect(dialog.accept)
        dialog.open()

    def _open_turn(self, conversation_id: str, message_id: str) -> None:
        self._chats.open(conversation_id)
        session = self._chats.current
        if session is not None and session.show_message(message_id):
            self._window.chat.scroll_to(message_id)
            self.show_turn(message_id)

    def export_turns(self) -> None:
        """Ask where to, and write the figures of all turns there."""
        title = translate("inspection", "Export the figures of all turns")
        path, _ = QFileDialog.getSaveFileName(self._window, title, str(Path.home() / "loquat-turns.csv"), "CSV (*.csv)")
        if not path:
            return
        export = TurnReader(self._store, self)
        self._exports.append(export)
        export.failed.connect(self._say)
        for end in (export.made, export.failed):
            end.connect(lambda *_: self._exported(export))
        export.ask(self._labels(), partial(_write_turns, Path(path)))

    def _exported(self, export: TurnReader) -> None:
        self._exports.remove(export)
        export.deleteLater()

    def _say(self, sentence: str, detail: str = "") -> None:
        self._window.notices.show_notice(Notice(sentence, detail))


def _screen_rate(trace: TurnTrace | None) -> float | None:
    """Tokens a second as they came on the screen; None where that was not seen."""
    if trace is None or len(trace.token_times) < 2:
        return None
    decode, drawing = trace.phases.decode, trace.phases.drawing
    return None if decode is None or drawing is None else ratio(len(trace.token_times) - 1, decode + drawing)


def _write_turns(path: Path, turns: tuple[LoggedTurn, ...]) -> None:
    try:
        write_atomically(path, as_csv(turns))
    except OSError as error:
        sentence = translate("inspection", "The file could not be written: {reason}.")
        raise EngineError(sentence.format(reason=error.strerror or type(error).__name__), str(error)) from error
