"""What methods, filters and operators of a template are about to make, charged before they make it. Torch-free."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS
from jinja2.utils import _PassArg

from engine.templates.allowed import DEEP, QUICK, SHALLOW
from engine.templates.budget import Budget

WIDEST: Final = 64
LARGEST_COUNT: Final = 100_000
_BITS: Final = 1024
_ESCAPED: Final = 12  # characters that one may become
_PIECE: Final = 64  # bytes of a small text
_CHARACTERS_PER_STEP: Final = 4096
_ITEMS_PER_STEP: Final = 8
_WIDE: Final = re.compile(r"\d{4}|\*|\{[^{}]*\{")  # in a format: a width that makes gigabytes, or one from a value
Arguments = dict[str, Any]
Filter = Callable[..., Any]


def length(value: Any) -> int:  # noqa: ANN401 - whatever a template can hold
    """Of what has one, else 0."""
    return len(value) if hasattr(type(value), "__len__") else 0


def listed(budget: Budget, value: Any) -> Any:  # noqa: ANN401
    """What can be gone through only once, as a list: so nothing is gone through unseen, or nested without end."""
    if not isinstance(value, Iterator):
        return value
    kept = []
    for item in value:
        budget.step()
        kept.append(item)
    return budget.made(kept)


def formatted(budget: Budget, text: str, places: int, values: Any) -> None:  # noqa: ANN401
    """A text with `places` is filled with some of `values`."""
    if _WIDE.search(text):
        raise SecurityError("a format as wide as that is not allowed")
    budget.take(4 * len(text) + places * (WIDEST + budget.read(values)))


def replaced(budget: Budget, text: str, old: str, new: str) -> None:
    """Every `old` in a text becomes `new`."""
    found = text.count(old) if old else len(text) + 1
    budget.take(4 * (len(text) + found * len(new)))


def joined(budget: Budget, between: str, parts: Any) -> None:  # noqa: ANN401
    """Parts become one text."""
    budget.take(budget.read(parts) + 4 * len(between) * length(parts))


def split(budget: Budget, text: str, between: str | None) -> None:
    """A text becomes parts."""
    budget.take(_PIECE * (text.count(between) if between else len(text) // 2))


def multiplied(budget: Budget, left: Any, right: Any) -> None:  # noqa: ANN401
    """A text or a list is repeated."""
    times, value = (left, right) if isinstance(left, int) else (right, left)
    if isinstance(times, int):
        budget.take(8 * length(value) * max(0, times))


def check_numbers(operator: str, left: int, right: int) -> None:
    """Refuse whole numbers that could grow without end.

    Raises:
        SecurityError: They could.
    """
    bits = max(left.bit_length(), 1) * abs(right) if operator == "**" else left.bit_length() + right.bit_length()
    if bits > _BITS:
        raise SecurityError("a number as large as that is not allowed")


def before_method(budget: Budget, text: str, name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """A method of a text is about to be called.

    Returns:
        The arguments to call it with.
    """
    budget.step(len(text) // _CHARACTERS_PER_STEP)
    if name == "join" and args:
        args = (listed(budget, args[0]), *args[1:])
        joined(budget, text, args[0])
    elif name == "replace" and len(args) > 1:
        replaced(budget, text, str(args[0]), str(args[1]))
    elif name in ("split", "rsplit"):
        split(budget, text, str(args[0]) if args and args[0] is not None else None)
    elif name == "splitlines":
        split(budget, text, "\n")
    return args


def filters(budget: Callable[[], Budget]) -> dict[str, Filter]:
    """Jinja's filters that a chat template may use, each charged for what it does.

    Args:
        budget: Of the rendering that is going on.
    """
    return {name: _charged(name, budget) for name in QUICK | SHALLOW | DEEP}


def _charged(name: str, budget: Callable[[], Budget]) -> Filter:
    function = FILTERS[name]
    leading = 0 if _PassArg.from_obj(function) is None else 1
    check = _CHECKS.get(name)
    bind = inspect.signature(function).bind if check else None

    @functools.wraps(function)
    def charged(*args: Any, **named: Any) -> Any:  # noqa: ANN401
        now, values = budget(), list(args)
        now.step()
        if name not in QUICK and len(values) > leading:
            values[leading] = listed(now, values[leading])
            now.step(length(values[leading]) // _ITEMS_PER_STEP)
        if name in DEEP:
            now.read(values[leading:], named)
        if check and bind:
            check(now, bind(*values, **named).arguments)
        return now.made(function(*values, **named))

    return charged


def _limit(*names: str, most: int = LARGEST_COUNT) -> Callable[[Budget, Arguments], None]:
    """Refuses numbers beyond what is sensible."""

    def check(budget: Budget, given: Arguments) -> None:
        if any(abs(int(given.get(name) or 0)) > most for name in names):
            raise SecurityError("a number as large as that is not allowed")

    return check


def _join(budget: Budget, given: Arguments) -> None:
    joined(budget, str(given.get("d", "")), given["value"])


def _replace(budget: Budget, given: Arguments) -> None:
    replaced(budget, str(given["s"]), str(given["old"]), str(given["new"]))


def _format(budget: Budget, given: Arguments) -> None:
    text = str(given["value"])
    formatted(budget, text, text.count("%"), (given.get("args", ()), given.get("kwargs", {})))


def _indent(budget: Budget, given: Arguments) -> None:
    text, width = str(given["s"]), given.get("width", 4)
    columns = len(width) if isinstance(width, str) else abs(int(width))
    budget.take(4 * (len(text) + (text.count("\n") + 1) * columns))


def _sum(budget: Budget, given: Arguments) -> None:
    if not isinstance(given.get("start", 0), int | float):
        raise SecurityError("only numbers can be summed up")  # lists would be copied again and again


def _text(factor: int) -> Callable[[Budget, Arguments], None]:
    """Makes a text of everything below a value."""

    def check(budget: Budget, given: Arguments) -> None:
        budget.take(factor * budget.read(tuple(given.values())))

    return check


_CHECKS: Final[Mapping[str, Callable[[Budget, Arguments], None]]] = {
    "batch": _limit("linecount"),
    "slice": _limit("slices"),
    "round": _limit("precision", most=WIDEST),
    "truncate": _limit("length", "leeway"),
    "sum": _sum,
    "join": _join,
    "replace": _replace,
    "format": _format,
    "indent": _indent,
    **dict.fromkeys(("string", "title", "wordcount"), _text(1)),
    **dict.fromkeys(("forceescape", "urlencode"), _text(_ESCAPED)),
}
