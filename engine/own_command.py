"""How Loquat starts itself again as a child process, and what its children inherit when it is a frozen program."""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from typing import Final

_LIBRARIES: Final = "LD_LIBRARY_PATH"
_ORIGINAL: Final = "LD_LIBRARY_PATH_ORIG"
# Asks PyInstaller's boot loader to set a child up by itself instead of taking over what its parent was given.
_FRESH: Final = "PYINSTALLER_RESET_ENVIRONMENT"


def own_command() -> list[str]:
    """The words in front of Loquat's own arguments; a child started so is this very program."""
    if is_frozen():
        return [sys.executable]
    return [sys.executable, "-P", "-m", "app"]  # -P: a folder "app" where the person stands is not ours


def is_frozen() -> bool:
    """Whether this is the installed program that brings its own Python, not a checkout."""
    return bool(getattr(sys, "frozen", False))


def free_children(environment: MutableMapping[str, str]) -> None:
    """Take back what the boot loader of a frozen program set for it alone, so that children do not inherit it.

    A browser or file manager that is opened from the window must find the system's libraries, not those in Loquat's
    folder. The loader of this process read the variable when the process began, so that nothing changes here. To be
    called once, first of all, with `os.environ`; nothing happens in a checkout.
    """
    if not is_frozen():
        return
    environment.pop(_LIBRARIES, None)
    if _ORIGINAL in environment:
        environment[_LIBRARIES] = environment.pop(_ORIGINAL)
    environment[_FRESH] = "1"
