"""The window's own command-line options, known to the first start and to a second one that hands them over."""

from __future__ import annotations

import argparse
from typing import Final

SELF_TEST: Final = "--self-test"
SELF_TEST_WINDOW: Final = "--self-test-window"  # what the self-test starts its children with


def window_options() -> argparse.ArgumentParser:
    """A parser to build on, without help of its own."""
    parser = argparse.ArgumentParser(prog="loquat", add_help=False)
    parser.add_argument("--model", metavar="NAME", help="the model to load instead of the default one")
    parser.add_argument("--new", action="store_true", help="begin a new chat instead of opening the last one")
    parser.add_argument(
        "--toggle",
        action="store_true",
        help="show or hide the small window for a quick question, to be bound to a key; starts the program if need be",
    )
    return parser
