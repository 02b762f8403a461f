"""A chat template's code, with the calls that count what it does written into it. Torch-free."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from jinja2 import TemplateSyntaxError, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import Extension
from jinja2.parser import Parser

MOST_NODES: Final = 20_000
_FILES: Final = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)


class CountingCode(CodeGenerator):
    """Every block of statements, new list, joined text and slice goes through the environment's budget."""

    def blockvisit(self, nodes: Iterable[nodes.Node], frame: Frame) -> None:
        """A body: of a loop, a macro, a condition."""
        self.writeline("environment.budget.step()")
        super().blockvisit(nodes, frame)

    def visit_List(self, node: nodes.List, frame: Frame) -> None:
        """`[...]`."""
        self._built(super().visit_List, node, frame)

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        """`{...}`."""
        self._built(super().visit_Dict, node, frame)

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:
        """`(...)`, where it is a value and nothing that is assigned to."""
        if node.ctx == "load":
            self._built(super().visit_Tuple, node, frame)
        else:
            super().visit_Tuple(node, frame)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        """`a ~ b`."""
        self.write("environment.joined((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        """`a[b]` and `a[b:c]`; the latter makes something new."""
        if isinstance(node.arg, nodes.Slice):
            self.write("environment.budget.made(")
            super().visit_Getitem(node, frame)
            self.write(")")
        else:
            super().visit_Getitem(node, frame)

    def _built(self, visit: Callable[[Any, Frame], None], node: nodes.Node, frame: Frame) -> None:
        self.write("environment.budget.built(")
        visit(node, frame)
        self.write(")")


class Generation(Extension):
    """`{% generation %}` marks a reply for training; in a prompt it means nothing."""

    tags = {"generation"}  # noqa: RUF012 - Jinja's own form

    def parse(self, parser: Parser) -> nodes.Node:
        """Its body, in a scope of its own."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


def check_tree(tree: nodes.Template) -> None:
    """Refuse what no chat template may have.

    Raises:
        TemplateSyntaxError: It reads other files, changes how text is escaped, or is too large.
    """
    for number, node in enumerate(tree.find_all(nodes.Node)):
        if number > MOST_NODES:
            raise TemplateSyntaxError("it is too large", 1)
        if isinstance(node, _FILES):
            raise TemplateSyntaxError("it reads another file, which a template may not", node.lineno)
        if isinstance(node, nodes.EvalContextModifier):
            raise TemplateSyntaxError("it changes how text is escaped, which a template may not", node.lineno)
