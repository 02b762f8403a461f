"""Every sentence of the explanations, in one place: f-strings with simple values, so that they can be translated."""

from __future__ import annotations


def growth_detail(nbytes: int) -> str:
    """What a token waited for while the cache moved."""
    return f"The KV cache moved to a larger place, {_mb(nbytes)} in all."


def spill_detail(nbytes: int) -> str:
    """What the first token waited for while another cache was written."""
    return f"Caches of other chats, {_mb(nbytes)}, were written to disk to make room."


def collection_detail(milliseconds: float) -> str:
    """What a token waited for while Python looked for garbage."""
    return f"Python collected garbage for {milliseconds:,.0f} ms."


def throttled_detail(milliseconds: float) -> str:
    """What a token waited for while a limit was in force."""
    return f"The system withheld the processor for {milliseconds:,.0f} ms, as a limit on this program says."


def stolen_detail(milliseconds: float) -> str:
    """What a token waited for while the hypervisor ran another machine."""
    return f"The host gave {milliseconds:,.0f} ms of processor time to other virtual machines."


def swapped_detail(nbytes: int) -> str:
    """What a token waited for while memory came back from swap."""
    return f"{_mb(nbytes)} had to be read back from swap: memory is short."


def fault_detail(pages: int) -> str:
    """What a token waited for while pages were read."""
    return f"{pages:,} pages of memory had to be read from disk."


def other_process_detail(share: float, cores: int) -> str:
    """What a token waited for while others computed."""
    return f"Other programs used {share:.0%} of {cores} processors."


def consumer_detail(milliseconds: float) -> str:
    """What a token waited for before the engine was asked for it."""
    return f"The engine was not asked for the next token for {milliseconds:,.0f} ms."


def slept_detail(milliseconds: float) -> str:
    """What is known of a gap in which nothing was computed."""
    return f"The engine computed for {milliseconds:,.0f} ms only; the rest of the time it waited."


def _mb(nbytes: int) -> str:
    return f"{nbytes / 1e6:,.0f} MB" if nbytes >= 10_000_000 else f"{nbytes / 1e6:,.1f} MB"
