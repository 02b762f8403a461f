"""What the inspector's drawings take: frozen values without Qt, their words already in the person's language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Segment:
    """One piece of a bar, and its line in the legend.

    Attributes:
        label: What it is.
        value: Its length, in any one unit for the whole bar; not below zero.
        text: The value as people read it.
        token: The colour, by its name in the theme.
        detail: More about it, for the pointer; may be empty.
    """

    label: str
    value: float
    text: str
    token: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Strip:
    """Milliseconds of each token, for a strip chart.

    Attributes:
        gaps_ms: Of every token after the first.
        late: Indices into `gaps_ms` of those that are stalls.
        usual_ms: The median; None where there are too few.
    """

    gaps_ms: tuple[float, ...] = ()
    late: frozenset[int] = frozenset()
    usual_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart.

    Attributes:
        label: What it shows.
        points: x and y, by rising x.
        token: The colour, by its name in the theme.
        dots: Whether each point is marked; for few points.
    """

    label: str
    points: tuple[tuple[float, float], ...]
    token: str
    dots: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A place on the x axis that is pointed out, such as a new version that made answers slower."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over common axes.

    Attributes:
        x_name, y_name: What the axes are, with the unit.
        x_is_time: Whether x is seconds since the epoch and is read as days.
        empty: The sentence that stands there while there is nothing to draw.
    """

    lines: tuple[Line, ...]
    x_name: str
    y_name: str
    marks: tuple[Mark, ...] = ()
    x_is_time: bool = False
    empty: str = ""
