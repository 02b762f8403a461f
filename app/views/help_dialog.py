"""The help: its pages at the left, the one that is chosen at the right. It opens without a network."""

from __future__ import annotations

from collections.abc import Sequence
from string import Template
from typing import Any, Final

from markdown_it import MarkdownIt
from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtGui import QImage, QTextDocument
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from app.assets import ASSETS
from app.help import DARK, PICTURES, HelpPage
from app.i18n import translate
from app.theme import Theme
from app.views.dialogs import fit, make_button

_SIZE: Final = QSize(980, 720)
_LIST_WIDTH: Final = 210
_COLUMN: Final = 640  # the widest line that is read with ease
_PAGE: Final = ".md"
_STYLE: Final = ASSETS / "themes" / "help.css"


class HelpDialog(QDialog):
    """Shows pages of Markdown; links between them are followed, others are asked for."""

    link_activated = Signal(str)

    def __init__(self, theme: Theme, pages: Sequence[HelpPage], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sheet")
        self.setWindowTitle(translate("help_dialog", "Help"))
        self._theme = theme
        self._pages = tuple(pages)
        self.list = QListWidget(self)
        self.reader = _Reader(theme, self)
        self.close_button = make_button(theme, translate("help_dialog", "Close"), self)
        self._lay_out()
        fit(self, QSize(theme.wide(_SIZE.width()), theme.line(_SIZE.height())))
        self.close_button.clicked.connect(self.accept)
        self.list.currentRowChanged.connect(self._show)
        self.reader.anchorClicked.connect(self._follow)
        self.list.setCurrentRow(0)

    @property
    def shown(self) -> str:
        """The id of the page on view; empty where there is none."""
        row = self.list.currentRow()
        return self._pages[row].id if 0 <= row < len(self._pages) else ""

    def open_page(self, page_id: str) -> None:
        """Show a page; one that is not there changes nothing."""
        ids = [page.id for page in self._pages]
        if page_id in ids:
            self.list.setCurrentRow(ids.index(page_id))

    def _show(self, row: int) -> None:
        if 0 <= row < len(self._pages):
            self.reader.show_text(self._pages[row].text)

    def _follow(self, url: QUrl) -> None:
        address = url.toString()
        if url.scheme():
            self.link_activated.emit(address)
        else:
            self.open_page(address.partition("#")[0].removesuffix(_PAGE))

    def _lay_out(self) -> None:
        self.list.setObjectName("assistants")
        self.list.setFont(self._theme.font("list"))
        self.list.setAccessibleName(translate("help_dialog", "Pages of the help"))
        self.list.setFixedWidth(self._theme.wide(_LIST_WIDTH))
        for page in self._pages:
            QListWidgetItem(page.title, self.list).setSizeHint(QSize(0, self._theme.line(34)))
        row = QHBoxLayout()
        row.setSpacing(24)
        row.addWidget(self.list)
        row.addWidget(self.reader, 1)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 22, 24, 20)
        column.setSpacing(16)
        column.addLayout(row, 1)
        column.addLayout(buttons)


class _Reader(QTextBrowser):
    """One page, in a column that is never wider than it is pleasant to read."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._markdown = MarkdownIt("commonmark").enable("table")
        self.setObjectName("helpPage")
        self.setAccessibleName(translate("help_dialog", "Page"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(theme.font("body"))
        self.setOpenLinks(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setLineWrapMode(QTextBrowser.LineWrapMode.FixedPixelWidth)
        self.setLineWrapColumnOrWidth(theme.wide(_COLUMN))
        self.document().setDocumentMargin(4)

    def show_text(self, text: str) -> None:
        """Show Markdown from its beginning."""
        self.document().setDefaultStyleSheet(self._style())
        # A line's height is a share of what stands in it: a picture would have half its own below it.
        drawn = self._markdown.render(text).replace("<p><img", '<p style="line-height: 100%"><img')
        # Qt draws the end of the last line as one more, and knows room around words in tables only.
        drawn = drawn.replace("\n</code></pre>", "</code></pre></td></tr></table>")
        drawn = drawn.replace("<pre>", '<table\nclass="code" width="100%" cellspacing="0"><tr><td\nclass="code"><pre>')
        self.setHtml(f"<body>{drawn}</body>")
        self.verticalScrollBar().setValue(0)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:  # noqa: ANN401 - what Qt's signature says
        """Pictures lie in one folder, each light and dark, and are drawn as wide as the column; no other is loaded."""
        path = name if isinstance(name, str) else name.toString()
        if kind != QTextDocument.ResourceType.ImageResource.value or "/" in path or ":" in path:
            return None
        image = QImage(str(PICTURES / (path.replace(".png", DARK) if self._theme.dark else path)))
        if image.isNull():
            return None
        ratio = self.devicePixelRatioF()
        width = round(min(self._theme.wide(_COLUMN) - 12, image.width()) * ratio)
        scaled = image.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)
        scaled.setDevicePixelRatio(ratio)
        return scaled

    def _style(self) -> str:
        body = self._theme.font("body")
        size = body.pixelSize() if body.pixelSize() > 0 else round(body.pointSizeF() * 4 / 3)
        colours = {name: self._theme.color(name).name() for name in ("text", "muted", "code", "link")}
        sizes = {"h1": round(1.4 * size), "h2": round(1.15 * size), "small": round(0.87 * size)}
        style = Template(_STYLE.read_text(encoding="utf-8"))
        return style.substitute(sizes, mono=self._theme.font("code").family(), **colours)
