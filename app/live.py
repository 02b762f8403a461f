"""What the window shows of work in progress: frozen values, made by session and chats, drawn by the views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from engine.config import EngineConfig
from engine.events import LoadProgress, ModelInfo

TurnPhase = Literal["idle", "queued", "prefill", "decode"]
ModelPhase = Literal["none", "working", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """The turn of one conversation as it goes.

    Attributes:
        phase: "queued" from Enter until the engine begins, also while a model loads.
        message_id: The reply that grows; empty until its first text.
        cached: Prompt tokens reused from the KV cache.
        prefill_done, prefill_total: Prompt tokens computed so far, and to compute.
        completion_tokens: Tokens generated so far.
        ttft_s: Seconds from Enter to the first token; None until it is there.
        tokens_per_s: Decode rate so far; None with fewer than two tokens.
        context_used: Tokens of the conversation that the KV cache holds; None while that is not known, as after a reply
            that broke off.
        note: For people: what a server is waited for; empty where there is nothing to say.
        reuse_known: False where a server answered and did not tell how many tokens it reused and computed.
        pieces_per_s: Of a server's stream, where it did not tell its tokens.
    """

    phase: TurnPhase = "idle"
    message_id: str = ""
    cached: int = 0
    prefill_done: int = 0
    prefill_total: int = 0
    completion_tokens: int = 0
    ttft_s: float | None = None
    tokens_per_s: float | None = None
    context_used: int | None = 0
    note: str = ""
    reuse_known: bool = True
    pieces_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class ModelState:
    """Where the model stands.

    Attributes:
        info: The model that answers; None until one is loaded.
        step: The latest step of a download, import or load in progress.
        sentence: For people: what goes on, or why it failed.
        config: How `info` was loaded.
    """

    phase: ModelPhase = "none"
    info: ModelInfo | None = None
    step: LoadProgress | None = None
    sentence: str = ""
    config: EngineConfig | None = None


@dataclass(frozen=True, slots=True)
class CheckState:
    """How many questions of a conversation have been answered with the cache and without, and how many there are."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence for the notice bar, with at most one thing to do about it.

    Attributes:
        detail: Technical text to copy; may be empty.
        action_label: Words of the button; empty where there is nothing to do.
        action: Called when the button is pressed.
        lapses: Whether it goes by itself after a while, because what it offers does.
        undoes: Whether the action brings back what the person put away.
        of_chat: Whether it is about what was just tried in the chat on view, and goes with it.
        turn_of: The conversation whose last turn it is about: it goes when that is asked something again.
        only_in: The conversation in which alone it is shown; empty for all.
        until: What else ends it: "turn", when the chat in which it is shown is not busy any more, or no message of it
            waits; "load", when a model is being loaded.
        of_model: The name of the model that it is about: it goes when another one answers, or none.
    """

    sentence: str
    detail: str = ""
    action_label: str = ""
    action: Callable[[], None] | None = None
    lapses: bool = False
    undoes: bool = False
    of_chat: bool = False
    turn_of: str = ""
    only_in: str = ""
    until: Literal["", "turn", "load"] = ""
    of_model: str = ""


@dataclass(frozen=True, slots=True)
class DraftCost:
    """What sending the draft would cost, as far as is known before it is sent.

    Attributes:
        prompt_tokens: Of the whole prompt, without what would be left out.
        cached_tokens: Of them, those that need not be computed.
        draft_tokens: Of the draft alone, its attachments among them.
        context_limit: Most tokens that the conversation can hold.
        left_out: How many earlier messages would not fit and would not be read.
        seconds: To read what is new, by the rates measured so far; None until there are any.
        about: Whether the tokens were not counted, but guessed by the length of the text.
        characters: Of the draft whose tokens were counted; 0 where that is not known.
    """

    prompt_tokens: int
    cached_tokens: int
    draft_tokens: int
    context_limit: int
    left_out: int = 0
    seconds: float | None = None
    about: bool = False
    characters: int = field(default=0, compare=False)
