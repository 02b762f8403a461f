"""The window: places the views. What they show and what comes of them is the conductor's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QByteArray, QEvent, QMimeData, QRect, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.attachments import kind_of_drop
from app.live import ModelState
from app.theme import Theme, app_icon
from app.views.chat_header import ChatHeader
from app.views.chat_view import ChatView
from app.views.composer import Composer
from app.views.frame import Dock, Scrim
from app.views.inspector.inspector import WIDTH as INSPECTOR_WIDTH
from app.views.inspector.inspector import Inspector
from app.views.notice_bar import NoticeBar
from app.views.palette import Palette
from app.views.panels import Panel
from app.views.progress_card import ProgressCard
from app.views.sidebar import Sidebar
from app.views.start_cards import Offer, SetupCard
from app.views.start_page import StartPage
from app.views.status_bar import StatusBar

NARROW: Final = 760  # below this width the sidebar lies over the conversation
WIDE: Final = 1100  # from this width on there is room for the inspector beside it, drawn for text of 100 %
SIZE: Final = (1200, 820)
_FRAME: Final = QSize(16, 40)  # what a window manager may put around it, which is not known before it is shown


class MainWindow(QWidget):
    """One conversation at a time, the list of all at the left, what the engine is doing around them."""

    dropped = Signal(object)  # QMimeData: something was dropped that `accepts` takes
    inspector_toggled = Signal(bool)
    closing = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("window")
        self.setWindowTitle("Loquat")
        self.setWindowIcon(app_icon())
        self.setMinimumSize(400, 420)
        self.setAcceptDrops(True)
        self.sidebar = Sidebar(theme, self)
        self.header = ChatHeader(theme, self)
        self.start_page = StartPage(theme, self)
        self.chat = ChatView(theme, self)
        self.notices = NoticeBar(theme, self)
        self.setup_card = SetupCard(theme, self, brief=True)
        self.progress = ProgressCard(theme, self)
        self.checking = ProgressCard(theme, self)
        self.fetching = ProgressCard(theme, self)
        self.composer = Composer(theme, self)
        self.status = StatusBar(theme, self)
        self.command_palette = Palette(theme, self)
        self._scrim = Scrim(self)
        self._told_inspector = False
        self.hides_on_close: Callable[[], bool] = lambda: False
        self.inspector = Inspector(theme, self)
        self._left = Panel(self.sidebar, "left", theme, self, wanted=True)
        self._right = Panel(self.inspector, "right", theme, self, wanted=False)
        self._place_parts()
        self._left.moved.connect(self._arrange)
        self._right.moved.connect(self._arrange)
        self._right.moved.connect(self._tell_inspector)
        self.inspector.closed.connect(self.toggle_inspector)
        self._scrim.clicked.connect(self.fold_overlay)
        self.header.sidebar_toggled.connect(self.toggle_sidebar)
        self.resize(*SIZE)

    def _place_parts(self) -> None:
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.start_page)
        self._pages.addWidget(self.chat)
        self._pages.setMinimumHeight(1)  # in a low window the page is cut, never what one writes in
        self._main = QWidget(self)
        column = QVBoxLayout(self._main)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self._pages, 1)
        column.addWidget(Dock(self._docked(), self._main))
        column.addWidget(self.status)
        self._scrim.raise_()
        self.sidebar.raise_()
        self.inspector.raise_()

    def _docked(self) -> tuple[QWidget, ...]:
        return (self.notices, self.setup_card, self.fetching, self.progress, self.checking, self.composer)

    # -- what is on view ---------------------------------------------------------------------------------------

    def show_model(self, model: ModelState) -> None:
        """Show where the model stands, wherever that is shown."""
        for part in (self.header, self.progress, self.start_page, self.setup_card, self.status, self.notices):
            part.show_model(model)

    def show_offer(self, offer: Offer | None) -> None:
        """Offer a model where none answers, on the page of an empty chat and under a conversation."""
        self.start_page.show_offer(offer)
        self.setup_card.show_offer(offer)

    def show_messages(self, shown: bool) -> None:
        """Show the conversation's messages, or the page of an empty chat."""
        self._pages.setCurrentWidget(self.chat if shown else self.start_page)
        self.setup_card.want(shown)

    def show_title(self, title: str) -> None:
        """Show the title of the conversation on view; empty while it has none."""
        self.setWindowTitle(f"{title} — Loquat" if title else "Loquat")

    @property
    def narrow(self) -> bool:
        """Whether the sidebar has no room beside the conversation."""
        return self.width() < NARROW

    def toggle_sidebar(self) -> None:
        """Fold the sidebar away, or bring it back."""
        self.show_sidebar(not self._left.shown)

    def show_sidebar(self, shown: bool) -> None:
        """Show or fold the sidebar; in a narrow window it slides over the conversation."""
        self._left.show(shown)

    def toggle_inspector(self) -> None:
        """Fold the inspector away, or bring it back."""
        self.show_inspector(not self._right.shown)

    def show_inspector(self, shown: bool) -> None:
        """Show or fold the inspector; where there is no room for it, it slides over the conversation."""
        self._right.show(shown)

    def want_inspector(self) -> None:
        """Let the inspector stand beside the conversation, now or as soon as there is room."""
        self._right.want()
        self._arrange()
        self._tell_inspector()

    @property
    def inspector_wanted(self) -> bool:
        """Whether the inspector stands beside the conversation where there is room."""
        return self._right.wanted

    @property
    def inspector_shown(self) -> bool:
        """Whether the inspector is on view."""
        return self._right.shown

    def fold_overlay(self) -> bool:
        """Fold the panels that lie over the conversation; whether there was one."""
        over = [panel for panel in (self._left, self._right) if panel.lies_over]
        for panel in over:
            panel.show(False)
        return bool(over)

    def _tell_inspector(self) -> None:
        if self._right.shown != self._told_inspector:
            self._told_inspector = self._right.shown
            self.inspector_toggled.emit(self._told_inspector)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Every Tab in the window ends here."""
        self.chat.order_focus()
        return super().focusNextPrevChild(forward)

    # -- placing -----------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._left.set_over(self.narrow)
        self.inspector.fit_into(self.width())
        self._right.set_over(self.width() - self.inspector.width() < WIDE - INSPECTOR_WIDTH)
        self._arrange()
        self._tell_inspector()

    def _arrange(self) -> None:
        left, right = self._left.room, self._right.room
        self._main.setGeometry(left, 0, self.width() - left - right, self.height())
        self._scrim.setGeometry(self.rect())
        self._scrim.setVisible(self._left.lies_over or self._right.lies_over)
        self._left.place()
        self._right.place()

    def geometry_to_keep(self) -> str:
        """Size and place, as text for the settings."""
        return self.saveGeometry().toBase64().toStdString()

    def restore_geometry(self, kept: str) -> None:
        """Take the size and place that were kept; what has no room on the screen is made smaller, and put on it."""
        restored = bool(kept) and self.restoreGeometry(QByteArray.fromBase64(kept.encode()))
        if not self.windowState() & (Qt.WindowState.WindowMaximized | Qt.WindowState.WindowFullScreen):
            self._fit_screen(restored)

    def _fit_screen(self, restored: bool) -> None:
        free = self.screen().availableGeometry()
        size = self.size().boundedTo(free.size() - _FRAME)
        if size == self.size():
            return  # where a place that was kept is out of reach, Qt has moved it
        place = QRect(self.pos(), size + _FRAME)
        if not restored:
            place.moveCenter(free.center())
        place.moveRight(min(place.right(), free.right()))
        place.moveBottom(min(place.bottom(), free.bottom()))
        self.resize(size)
        self.move(place.topLeft())

    def showEvent(self, event: QEvent) -> None:
        self.setUpdatesEnabled(True)
        self.composer.focus_editor()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.closing.emit()
        if self.hides_on_close():
            self.hide()
            event.ignore()
        else:
            super().closeEvent(event)
            self.setUpdatesEnabled(False)  # Qt would still draw what was asked for before, on a surface that is gone

    # -- files dropped -----------------------------------------------------------------------------------------

    def accepts(self, mime: QMimeData) -> bool:
        """Whether something that is dragged over the window can be dropped on it."""
        return kind_of_drop(mime) in ("model", "files")

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self.accepts(event.mimeData()):
            self.composer.show_drag(kind_of_drop(event.mimeData()))
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.composer.show_drag(None)

    def dropEvent(self, event: QDropEvent) -> None:
        if self.accepts(event.mimeData()):
            self.composer.show_drag(None)
            self.dropped.emit(event.mimeData())
            event.setDropAction(Qt.DropAction.CopyAction)  # a file manager must not think that the file was moved
            event.accept()
