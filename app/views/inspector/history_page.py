"""Speed over days and over the length of this chat, where it became worse, and every turn in a table."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.i18n import translate
from app.theme import Theme
from app.turn_log import LoggedTurn, slowdowns
from app.views.controls import make_push_button
from app.views.inspector import history_values
from app.views.inspector.bars import Legend
from app.views.inspector.chart import LineChart
from app.views.inspector.sections import Lines, Section, lay_out_page


class HistoryPage(QWidget):
    """Drawn from the log of turns; the table opens in a window of its own, where there is room for it."""

    table_requested = Signal()
    export_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._turns: tuple[LoggedTurn, ...] = ()
        self.context = LineChart(theme, self)
        self.rate = LineChart(theme, self)
        self.ttft = LineChart(theme, self)
        self.models = Legend(theme, self)
        self.slower = Lines(theme, "warning", self)
        self._table = make_push_button(theme, translate("history_page", "All turns…"), self)
        self._export = make_push_button(theme, translate("history_page", "Export as CSV…"), self)
        self._table.clicked.connect(self.table_requested)
        self._export.clicked.connect(self.export_requested)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self._table)
        buttons.addWidget(self._export)
        buttons.addStretch(1)
        speed = (self.rate, self.models, self.slower)
        sections = (
            Section(theme, translate("history_page", "This chat"), self, (self.context,)),
            Section(theme, translate("history_page", "Speed over days"), self, speed),
            Section(theme, translate("history_page", "Time to first token over days"), self, (self.ttft,)),
        )
        lay_out_page(self, (*sections, buttons))
        self.show_turns((), "")

    @property
    def turns(self) -> tuple[LoggedTurn, ...]:
        """What is drawn, oldest first."""
        return self._turns

    def show_turns(self, turns: Sequence[LoggedTurn], conversation_id: str) -> None:
        """Show the turns of all chats, and of this one in its own chart."""
        self._turns = tuple(turns)
        slower = slowdowns(turns)
        own = [turn for turn in turns if turn.conversation_id == conversation_id]
        self.context.show_chart(history_values.speed_by_context(own))
        rates = history_values.rate_over_time(turns, slower)
        models = history_values.model_legend(rates)
        self.rate.show_chart(rates)
        self.models.show_segments(models)
        self.models.setVisible(bool(models))
        self.ttft.show_chart(history_values.ttft_over_time(turns, ()))
        self.slower.show_lines([(history_values.slowdown_sentence(each), "") for each in slower[-3:]])
        self._table.setEnabled(bool(turns))
        self._export.setEnabled(bool(turns))
