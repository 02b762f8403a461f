"""Small controls that the views share: quiet text buttons, icon buttons, Copy."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Final

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen, QRegion, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QMenu, QPushButton, QWidget

from app.i18n import translate
from app.theme import FontRole, Theme

_COPIED_MS: Final = 1500
_MENU_RADIUS: Final = 9  # as in window.qss


def is_typing(event: QKeyEvent) -> bool:
    """Whether a key writes a character, so that a widget that takes no text may hand it on to the composer."""
    commands = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
    return event.text().isprintable() and bool(event.text().strip()) and not event.modifiers() & commands


def claim_escape(event: QEvent, wanted: Callable[[], bool] = lambda: True) -> bool:
    """Have Escape come here, and not to the window's shortcut, which stops an answer.

    Args:
        event: Any event of the widget; Qt asks by one of them.
        wanted: Whether the widget has a use for Escape now.

    Returns:
        Whether it was that question, and the answer was yes.
    """
    asked = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride
    if not asked or event.key() != Qt.Key.Key_Escape or not wanted():  # type: ignore[attr-defined]
        return False
    event.accept()
    return True


def show_property(widget: QWidget, name: str, value: str | bool) -> None:
    """Set a property that the style sheet asks for, and take the look that goes with its value."""
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def plain_tip(text: str) -> str:
    """A tool tip that is shown as it is written: Qt takes text with tags for HTML, and loads the pictures it names."""
    return f"<qt>{escape(text)}</qt>".replace("\n", "<br>") if "<" in text else text


def unmarked(text: str) -> str:
    """A name for a button, a box or a menu, where "&" would make the letter behind it a key and not be seen."""
    return text.replace("&", "&&")


def make_line(theme: Theme, name: str, parent: QWidget) -> QLineEdit:
    """A field of one line; `name` says to those who cannot see it what belongs there."""
    field = QLineEdit(parent)
    field.setObjectName("field")
    field.setFont(theme.font("list"))
    field.setAccessibleName(name)
    return field


def make_push_button(theme: Theme, label: str, parent: QWidget, primary: bool = False) -> QPushButton:
    """A button of the window; the primary one is filled with the accent. A click leaves the keyboard where it is."""
    button = QPushButton(label, parent)
    button.setObjectName("send" if primary else "quiet")
    button.setFont(theme.font("button" if primary else "list"))
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    return button


class PaintedButton(QAbstractButton):
    """Base of the small buttons that draw themselves; Tab goes to them, a click leaves the keyboard where it is."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)  # drawn anew when the mouse comes or goes


class QuietButton(PaintedButton):
    """A button that is only words. It may be hidden from view until its surroundings are hovered or it has focus."""

    def __init__(self, theme: Theme, text: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, name, parent)
        self._revealed = True
        self.setText(text)
        self.setFont(theme.font("small"))
        self.setToolTip(plain_tip(name))

    def set_revealed(self, revealed: bool) -> None:
        """Draw the words, or leave the place empty; it stays reachable with the keyboard."""
        if revealed != self._revealed:
            self._revealed = revealed
            self.update()

    @property
    def revealed(self) -> bool:
        """Whether the words are drawn."""
        return self._revealed or self.hasFocus()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + 16, metrics.height() + 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.revealed:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(self, painter, self._theme)
        painter.setPen(self._theme.color("text" if self.underMouse() or self.hasFocus() else "muted"))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())


class CopyButton(QuietButton):
    """Says "Copied" for a moment after it was pressed."""

    def __init__(self, theme: Theme, text: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, text, name, parent)
        self._words = text
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_COPIED_MS)
        self._timer.timeout.connect(self.reset)
        self.clicked.connect(self._confirm)

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        widest = max(metrics.horizontalAdvance(text) for text in (self._words, _copied()))
        return QSize(widest + 16, metrics.height() + 8)

    def reset(self) -> None:
        """Say what it does again."""
        self._timer.stop()
        self.setText(self._words)

    def _confirm(self) -> None:
        self.setText(_copied())
        self._timer.start()


def _copied() -> str:
    return translate("controls", "Copied")


class IconButton(PaintedButton):
    """A drawing from assets/icons in a square that lights up under the mouse."""

    def __init__(self, theme: Theme, icon: str, name: str, parent: QWidget | None = None, side: int = 32) -> None:
        super().__init__(theme, name, parent)
        self._icon = icon
        self._side = side
        self.setFixedSize(side, side)
        self.setToolTip(plain_tip(name))

    def sizeHint(self) -> QSize:
        return QSize(self._side, self._side)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(self, painter, self._theme)
        place = QRectF(0, 0, 18, 18)
        place.moveCenter(QRectF(self.rect()).center())
        tone = "faint" if not self.isEnabled() else "text" if self.underMouse() else "muted"
        icon = self._theme.icon(self._icon, tone)
        icon.paint(painter, place.toRect())


def paint_ground(button: QAbstractButton, painter: QPainter, theme: Theme) -> None:
    """The wash under the mouse and the ring of keyboard focus, the same for every small control."""
    box = QRectF(button.rect()).adjusted(0.75, 0.75, -0.75, -0.75)
    painter.setPen(QPen(theme.color("accent"), 1.5) if button.hasFocus() else Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("hover") if button.underMouse() else Qt.BrushStyle.NoBrush)
    if button.hasFocus() or button.underMouse():
        painter.drawRoundedRect(box, 7, 7)


class Menu(QMenu):
    """A menu with round corners on every desktop, also where nothing can be translucent; gone once it is closed."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFont(theme.font("list"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def add_submenu(self, title: str) -> Menu:
        """A menu behind an entry; it lives as long as this one, however often it is closed."""
        menu = Menu(self._theme, self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        menu.setTitle(title)
        self.addMenu(menu)
        return menu

    def showEvent(self, event: QShowEvent) -> None:
        """Among choices the one in force is where the arrow keys begin."""
        super().showEvent(event)
        chosen = next((action for action in self.actions() if action.isChecked() and action.isEnabled()), None)
        if chosen is not None:
            self.setActiveAction(chosen)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        end = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: -1}.get(Qt.Key(event.key()))
        entries = [each for each in self.actions() if each.isEnabled() and each.isVisible() and not each.isSeparator()]
        if end is None or not entries:
            super().keyPressEvent(event)
        else:
            self.setActiveAction(entries[end])  # Qt only scrolls there

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        path = QPainterPath()
        path.addRoundedRect(QRectF(self.rect()), _MENU_RADIUS, _MENU_RADIUS)
        self.setMask(QRegion(path.toFillPolygon().toPolygon()))


class Label(QLabel):
    """Plain text in a role of type and a tone of the theme ("text", "muted", "warning")."""

    def __init__(self, theme: Theme, text: str = "", role: FontRole = "list", tone: str = "text") -> None:
        super().__init__(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(theme.font(role))
        self.setProperty("tone", tone)


class ElidedLabel(Label):
    """A line that ends with an ellipsis where it has no room; the whole text is its tool tip."""

    double_clicked = Signal()

    def minimumSizeHint(self) -> QSize:
        return QSize(24, super().minimumSizeHint().height())

    def mouseDoubleClickEvent(self, event: QEvent) -> None:
        self.double_clicked.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        self.setToolTip(plain_tip(self.text()) if shown != self.text() else "")
        self.style().drawItemText(
            painter, self.rect(), int(self.alignment()), self.palette(), True, shown, self.foregroundRole()
        )
