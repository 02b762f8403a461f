"""Every sentence of the explanations, in one place: f-strings with simple values, so that they can be translated."""

from __future__ import annotations

from typing import Final

from engine.explain.trace import BreakReason


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
    return f"Other programs used {_percent(share)} of {cores} processors."


def consumer_detail(milliseconds: float) -> str:
    """What a token waited for before the engine was asked for it."""
    return f"The engine was not asked for the next token for {milliseconds:,.0f} ms."


def slept_detail(milliseconds: float) -> str:
    """What is known of a gap in which nothing was computed."""
    return f"The engine computed for {milliseconds:,.0f} ms only; the rest of the time it waited."


def _mb(nbytes: int) -> str:
    return f"{nbytes / 1e6:,.0f} MB" if nbytes >= 10_000_000 else f"{nbytes / 1e6:,.1f} MB"


def nothing_known() -> str:
    """Of a turn of which nothing was noted."""
    return "What this turn was bound by is not known."


def nothing_known_help() -> str:
    """What to do about it."""
    return "A longer answer would tell more."


def too_short() -> str:
    """Of a reply of a token or none."""
    return "The answer is too short to say what its speed was bound by."


def not_measured() -> str:
    """Where there is no profile."""
    return "What this machine can do has not been measured yet."


def queue(seconds: float, share: float) -> str:
    """Waiting for other requests."""
    return f"The question waited {_s(seconds)} for other work, {_percent(share)} of the time."


def queue_help() -> str:
    """What to do about it."""
    return "One answer is written at a time; stop the other one, or wait for it."


def load(seconds: float, share: float) -> str:
    """Waiting for the model."""
    return f"The model was loaded first, which took {_s(seconds)}, {_percent(share)} of the time."


def load_help() -> str:
    """What to do about it."""
    return "It stays loaded: the next answer does not wait for it."


def cold_start(pages: int, seconds: float, share: float) -> str:
    """The weights came from disk."""
    return (
        f"It was the first answer since the model was loaded: {pages:,} pages of memory had to be read from disk, "
        f"about {_s(seconds)} or {_percent(share)} of the time."
    )


def cold_start_help() -> str:
    """What to do about it."""
    return "The next answer finds the weights in memory."


def swap(pages: int, seconds: float, share: float) -> str:
    """Memory came back from swap."""
    return (
        f"Memory is short: {pages:,} pages had to be read back from disk, "
        f"about {_s(seconds)} or {_percent(share)} of the time."
    )


def swap_help() -> str:
    """What to do about it."""
    return "Close other programs, limit the memory for caches, or choose a smaller model."


def prefix_loss(tokens: int, seconds: float, share: float) -> str:
    """Tokens were computed again."""
    return (
        f"{tokens:,} tokens that had been computed before were computed again, "
        f"which took {_s(seconds)}, {_percent(share)} of the time."
    )


def prefix_loss_help(reason: BreakReason) -> str:
    """Why, and what to do about it."""
    return _PREFIX_HELP.get(reason, "")


def others(part: float, seconds: float) -> str:
    """Other programs computed too."""
    return f"Other programs used {_percent(part)} of the processors and held this answer up for about {_s(seconds)}."


def others_help() -> str:
    """What to do about it."""
    return "Close what else computes on this machine, or give Loquat fewer threads than there are processors."


def throttled(seconds: float, share: float) -> str:
    """Processors were withheld."""
    return f"The system withheld processors from this program for {_s(seconds)}, {_percent(share)} of the time."


def throttled_help() -> str:
    """What to do about it."""
    return "A limit on this program or its container, or other virtual machines on the same host, cause this."


def stalls(count: int, longest_ms: float, share: float) -> str:
    """Tokens came late."""
    if count == 1:
        return (
            f"One token came {longest_ms:,.0f} ms after the one before it: {_percent(share)} of the time was that wait."
        )
    return (
        f"{count:,} tokens came late, the latest by {longest_ms:,.0f} ms: {_percent(share)} of the time was such waits."
    )


def cause_not_known() -> str:
    """Of stalls without a cause."""
    return "What held them up is not known."


def prefill(tokens: int, seconds: float, rate: float) -> str:
    """Reading the prompt."""
    return f"Most of the time went into reading {tokens:,} new tokens: {_s(seconds)}, {rate:,.0f} tokens a second."


def prefill_of(tokens: int, seconds: float, rate: float, best: float) -> str:
    """Reading the prompt, beside what the machine can do."""
    return (
        f"Most of the time went into reading {tokens:,} new tokens: {_s(seconds)}, "
        f"{rate:,.0f} tokens a second of the {best:,.0f} that this machine computes."
    )


def prefill_help(cached: int) -> str:
    """What to do about it."""
    if cached:
        return f"The {cached:,} tokens before them were reused; a shorter question would be read sooner."
    return "A shorter text would be read sooner; the next question reuses what was read now."


def served(waited: float, wrote: float) -> str:
    """Of an answer by a server."""
    return f"The server began to answer after {_s(waited)} and wrote for {_s(wrote)}."


def served_help() -> str:
    """What is not known of it."""
    return "What it was bound by there is not known here."


def decode(nbytes: int, achieved: float) -> str:
    """Reading memory, where the bound is not known."""
    return f"Each token reads {_mb(nbytes)}, at {_gb(achieved)} a second."


def bandwidth(nbytes: int, achieved: float, possible: float) -> str:
    """Bound by reading memory."""
    return (
        f"Decode is bound by memory bandwidth: {_mb(nbytes)} per token at {achieved / 1e9:,.1f} of "
        f"{possible / 1e9:,.1f} GB/s."
    )


def fewer_bits(times: float) -> str:
    """What a smaller format would bring."""
    return f"A 4-bit format would be {times:.1f} times faster."


def few_bits_already() -> str:
    """No smaller format is there."""
    return "The weights are in 4 bits already; only a smaller model, or text that repeats itself, is faster."


def cache_is_read(share: float) -> str:
    """The conversation is longer than the model is large."""
    return f"{_percent(share)} of that is the chat itself; a shorter one, or a smaller format for its cache, is faster."


def step_work(step_ms: float, reading_ms: float) -> str:
    """Bound by what compiled code does beside reading."""
    return (
        f"A token takes {step_ms:,.1f} ms, of which reading memory would take {reading_ms:,.1f} ms: "
        "decode is bound by computing, not by memory."
    )


def step_work_help() -> str:
    """What to do about it."""
    return "A smaller model is faster; so are more processors, where there are any left."


def overhead(step_ms: float, reading_ms: float) -> str:
    """Bound by the interpreter."""
    return (
        f"A token takes {step_ms:,.1f} ms, of which reading memory would take {reading_ms:,.1f} ms: "
        "the rest is the overhead of starting many small operations, and computing."
    )


def overhead_help(device: str) -> str:
    """What to do about it."""
    if device == "cpu":
        return "The 4-bit and 8-bit formats run in compiled code, which has next to none."
    return "Replaying the step as a graph removes most of it, where this model allows it."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _s(seconds: float) -> str:
    return f"{seconds:,.1f} s" if seconds >= 1 else f"{1000 * seconds:,.0f} ms"


def _gb(nbytes: float) -> str:
    return f"{nbytes / 1e9:,.1f} GB"


_PREFIX_HELP: Final = {
    BreakReason.EDITED: "An earlier message was edited, and everything after it had to be read again.",
    BreakReason.OTHER_BRANCH: "Another version of a message was chosen, and everything after it had to be read again.",
    BreakReason.TEMPLATE: "The model's chat template writes earlier messages differently now; another model may not.",
    BreakReason.LEFT_OUT: "The context is full, so the oldest turns were left out; a new chat starts afresh.",
    BreakReason.EVICTED: "Its cache was not held any more; more memory or disk for caches keeps more of them.",
    BreakReason.MODEL_CHANGED: "The cache of another model or format cannot be used; it is built once for this one.",
    BreakReason.KERNELS: "Faster kernels took over once they were compiled; their cache has another format.",
    BreakReason.MARKS: "A model of this kind can go back to a few places only, and an edit lies between them.",
}
