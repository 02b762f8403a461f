"""Which version of Loquat runs; a trace says it, so that a new version can be seen to be slower."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def program_version() -> str:
    """Loquat's, empty where it was never installed."""
    try:
        return version("loquat-chat")
    except PackageNotFoundError:
        return ""
