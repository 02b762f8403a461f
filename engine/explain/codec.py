"""Frozen dataclasses to plain JSON values and back, forgiving about what an older or newer version wrote.

What is missing or of another kind takes the field's default, what is unknown is passed over: a saved trace is there
to be looked at, and half of it is better than none.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeVar

T = TypeVar("T")


class _NotOfThisKind(Exception):
    """A value that a field cannot take."""


def plain(value: object) -> Any:  # noqa: ANN401 - any JSON value
    """A dataclass as what `json.dumps` takes; fields at their default are left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(own) for f in dataclasses.fields(value) if (own := getattr(value, f.name)) != f.default}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def built(kind: type[T], data: object) -> T:
    """A dataclass, whose fields all have defaults, from what `plain` made of it, as far as that can be read."""
    if not isinstance(data, Mapping):
        return kind()
    known: Any = kind
    fields: dict[str, object] = {}
    for name, hint in _hints(known).items():
        if name in data:
            try:
                fields[name] = _read(hint, data[name])
            except _NotOfThisKind:
                continue  # the default says "not known"
    return kind(**fields)


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _read(hint: Any, value: object) -> object:  # noqa: ANN401 - a type as `typing` has it
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return _read_union(hint, value)
    if origin is tuple:
        return _read_tuple(typing.get_args(hint)[0], value)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type) and isinstance(value, Mapping):
        return built(hint, value)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _read_enum(hint, value)
    return _read_simple(hint, value)


def _read_union(hint: Any, value: object) -> object:  # noqa: ANN401
    if value is None:
        return None
    return _read(next(arg for arg in typing.get_args(hint) if arg is not type(None)), value)


def _read_tuple(item: Any, value: object) -> tuple[object, ...]:  # noqa: ANN401
    if not isinstance(value, list):
        raise _NotOfThisKind
    return tuple(_read(item, each) for each in value)


def _read_enum(hint: type[Enum], value: object) -> Enum:
    try:
        return hint(value)
    except ValueError as error:
        raise _NotOfThisKind from error


def _read_simple(hint: object, value: object) -> object:
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if hint is int and isinstance(value, bool):
        raise _NotOfThisKind
    if isinstance(hint, type) and isinstance(value, hint):
        return value
    raise _NotOfThisKind
