"""Command lines whose mistakes are answered with one sentence."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import NoReturn

from engine.config import GREEDY, SamplingParams
from engine.errors import BadRequest
from engine.units import parse_bytes


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises instead of printing its usage and leaving."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line.

        Raises:
            BadRequest: Always.
        """
        sentence = message.removeprefix("argument ").rstrip(".")
        raise BadRequest(f"{sentence}; `{self.prog} --help` tells more.")


def whole(low: int, high: int) -> Callable[[str], int]:
    """An argument type: a whole number from `low` to `high`."""

    def convert(text: str) -> int:
        digits = text.replace(",", "").replace("_", "")
        value = int(digits) if digits.lstrip("-").isdecimal() and len(digits) < 20 else None
        if value is None or not low <= value <= high:
            raise argparse.ArgumentTypeError(f"must be a whole number from {low:,} to {high:,}, not {text[:40]}")
        return value

    return convert


def size(text: str) -> int:
    """An argument type: bytes, as `engine.units.parse_bytes` reads them."""
    try:
        return parse_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


@contextlib.contextmanager
def within_bounds() -> Iterator[None]:
    """For values that are made of arguments and check their own bounds.

    Raises:
        BadRequest: One is out of bounds.
    """
    try:
        yield
    except ValueError as error:
        raise BadRequest(str(error)) from error


def sampling(options: argparse.Namespace) -> SamplingParams:
    """What `--greedy`, `--seed` and `--max-tokens` ask for.

    Raises:
        BadRequest: One is out of bounds.
    """
    with within_bounds():
        base = GREEDY if options.greedy else SamplingParams()
        return dataclasses.replace(base, seed=options.seed, max_tokens=options.max_tokens)
