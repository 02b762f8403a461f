"""What is selected in a column of blocks: from one place to another, whole blocks between."""

from __future__ import annotations

from app.views.document_view import DocumentView

Place = tuple[int, int]  # (index of the block view, position in its text)


class BodySelection:
    """Keeps the two ends of a selection and shows it in the block views.

    Args:
        views: The views, from top to bottom; the owner's own list, which changes.
    """

    def __init__(self, views: list[DocumentView]) -> None:
        self._views = views
        self._anchor: Place | None = None

    @property
    def anchored(self) -> bool:
        """Whether a selection was begun here."""
        return self._anchor is not None

    @property
    def text(self) -> str:
        """The selected text, its blocks on lines of their own."""
        return "\n\n".join(text for text in (view.selected_text() for view in self._views) if text)

    def begin(self, place: Place) -> None:
        """Begin anew, with nothing selected yet."""
        self.between(place, place)

    def extend(self, place: Place) -> None:
        """Select from where it was begun to a place."""
        if self._anchor is not None:
            self.between(self._anchor, place)

    def between(self, anchor: Place, head: Place) -> None:
        """Select from one place to another, in whatever order they stand."""
        self._anchor = anchor
        start, end = min(anchor, head), max(anchor, head)
        for index, view in enumerate(self._views):
            first = start[1] if index == start[0] else 0 if index > start[0] else view.length
            last = end[1] if index == end[0] else view.length if index < end[0] else 0
            view.select(first, last) if first < last else view.select(0, 0)

    def select_all(self) -> None:
        """Select everything."""
        if self._views:
            self.between(self.start, self.end)

    def clear(self) -> None:
        """Select nothing."""
        self._anchor = None
        for view in self._views:
            view.select(0, 0)

    @property
    def start(self) -> Place:
        """The first place."""
        return 0, 0

    @property
    def end(self) -> Place:
        """The last place."""
        return (len(self._views) - 1, self._views[-1].length) if self._views else (0, 0)
