"""A chat template, rendered so that it can neither reach anything nor take more than its budget. Torch-free.

Jinja's own sandbox keeps a template from Python's internals. Beyond it, there is only what chat templates are made of:
methods, filters and functions by name. Each is charged for what it makes, and every block of statements, call, operator
and literal is counted, so that a loop ends whether it writes something or not. Settings, `strftime_now`, `tojson`,
`raise_exception` and the `generation` tag are as transformers has them (`transformers.utils.chat_template_utils`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from types import BuiltinMethodType
from typing import Any, Final, NoReturn

from jinja2 import TemplateError, Undefined, nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import loopcontrols
from jinja2.runtime import BlockReference, Context, LoopContext, Macro, TemplateReference
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from engine.templates.allowed import METHODS
from engine.templates.budget import Budget
from engine.templates.code import CountingCode, Generation, check_tree
from engine.templates.growth import (
    LARGEST_COUNT,
    WIDEST,
    before_method,
    check_numbers,
    filters,
    formatted,
    length,
    multiplied,
)

LONGEST: Final = 200_000
"""Characters of a template; those of the models that people use have less than 30,000."""
_LARGEST: Final = 10**9  # bounds of a range; much larger numbers can be chosen so that their hashes collide

_OPEN: Final = (Namespace, LoopContext, Macro, TemplateReference, BlockReference)


class OutOfReach(SecurityError):
    """A template wants what is none of its business; the message is the name of that."""


class ChatTemplate:
    """One model's chat template, compiled. Not for two threads at once.

    Args:
        source: Jinja source.

    Raises:
        TemplateError: It is too long, is not Jinja, or wants what no chat template may have.
        Exception: It is nested so deeply that Python does not take it, or computes constants that take too much.
    """

    def __init__(self, source: str) -> None:
        if len(source) > LONGEST:
            raise TemplateError(f"it is {len(source):,} characters long, of {LONGEST:,} that are allowed")
        self._environment = _Environment()
        self._template = self._environment.from_string(source)

    def render(self, values: Mapping[str, Any]) -> str:
        """The text for these values.

        Args:
            values: Plain JSON values, and functions.

        Raises:
            TooCostly: The template used its budget up.
            Exception: Whatever it does wrong.
        """
        self._environment.budget = Budget(_characters(values))
        return self._template.render(**values)


def _characters(values: Mapping[str, Any]) -> int:
    """How much a template is given to go through."""
    total, waiting = 0, list(values.values())
    while waiting:
        value = waiting.pop()
        total += len(value) if isinstance(value, str) else WIDEST
        if isinstance(value, Mapping):
            waiting += [*value, *value.values()]
        elif isinstance(value, list | tuple):
            waiting += value
    return total


class _Names(Namespace):
    """A namespace in which no name begins with an underscore."""

    def __init__(*args: Any, **named: Any) -> None:  # noqa: ANN401 - and one of them may be called "self"
        Namespace.__init__(*args)
        for name, value in named.items():
            args[0][name] = value

    def __setitem__(self, name: str, value: Any) -> None:  # noqa: ANN401
        if name.startswith("_"):
            raise SecurityError(f"the name {name!r} is not allowed")
        super().__setitem__(name, value)


class _Environment(ImmutableSandboxedEnvironment):
    """Jinja as chat templates expect it, with all that takes time or memory counted."""

    code_generator_class = CountingCode
    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, Generation], cache_size=0)
        self.budget = Budget()
        self.finalize = self.shown
        self.filters = {**filters(lambda: self.budget), "tojson": self._to_json}
        self.globals = {"range": _range, "dict": _dict, "namespace": _Names, "raise_exception": _raise}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        check_tree(tree)
        return tree

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:  # noqa: ANN401
        """Only the methods that chat templates use."""
        for kinds, names in METHODS:
            if isinstance(obj, kinds):
                return attr in names
        return isinstance(obj, _OPEN) and not attr.startswith("_")

    def unsafe_undefined(self, obj: Any, attribute: str) -> Undefined:  # noqa: ANN401
        """What stands for an attribute that is not safe: asked whether it is there it is not, and used it raises."""
        return self.undefined(attribute, obj=obj, name=attribute, exc=OutOfReach)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:  # noqa: ANN401
        """`"...".format(...)`, in a sandbox and charged for."""
        wrapped = super().wrap_str_format(value)
        if wrapped is None or value.__name__ != "format":
            return None
        text = str(value.__self__)

        def charged(*args: Any, **named: Any) -> str:  # noqa: ANN401
            formatted(self.budget, text, text.count("{"), (args, named))
            return wrapped(*args, **named)

        return charged

    def call(__self, __context: Context, __called: Any, *args: Any, **named: Any) -> Any:  # noqa: ANN401
        """Call what the template calls."""
        budget = __self.budget
        budget.step()
        if isinstance(__called, BuiltinMethodType) and isinstance(__called.__self__, str):
            args = before_method(budget, __called.__self__, __called.__name__, args)
        return budget.made(super().call(__context, __called, *args, **named))

    def getitem(self, obj: Any, argument: Any) -> Any:  # noqa: ANN401
        """`obj[argument]`, also where a filter is given an attribute's name."""
        self.budget.step()
        return super().getitem(obj, argument)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401
        """`+`, `*`, `**` and `%`, looked at before they make anything."""
        self.budget.step()
        if isinstance(left, int) and isinstance(right, int):
            check_numbers(operator, left, right)
        elif operator == "*":
            multiplied(self.budget, left, right)
        elif operator == "%" and isinstance(left, str):
            formatted(self.budget, left, left.count("%"), right)
        return self.budget.made(super().call_binop(context, operator, left, right))

    def shown(self, value: Any) -> str:  # noqa: ANN401
        """A value as it stands in the output."""
        self.budget.step()
        if not isinstance(value, str):
            self.budget.take(self.budget.read(value))
        return str(value)

    def joined(self, values: Iterable[Any]) -> str:
        """What `~` makes of its sides."""
        return self.concat([self.shown(value) for value in values])

    def concat(self, parts: Iterable[str]) -> str:
        """Parts of an output as one text."""
        return "".join([self.budget.made(part) for part in parts])

    def _to_json(
        self,
        x: Any,  # noqa: ANN401 - any JSON value
        ensure_ascii: bool = False,
        indent: int | str | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        width = len(indent) if isinstance(indent, str) else indent or 0
        if width > WIDEST or length(separators and "".join(separators)) > WIDEST:
            raise SecurityError("JSON as wide as that is not allowed")
        self.budget.take(self.budget.read(x) * (WIDEST if indent else 2))
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _range(*bounds: int) -> range:
    made = range(*bounds)
    if len(made) > LARGEST_COUNT or any(abs(bound) > _LARGEST for bound in bounds):
        raise SecurityError("a range as large as that is not allowed")
    return made


def _dict(given: Mapping[str, Any] | None = None, /, **named: Any) -> dict[str, Any]:  # noqa: ANN401
    return {**(given or {}), **named}


def _raise(message: str) -> NoReturn:
    raise TemplateError(message)
