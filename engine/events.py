"""What comes up from the engine: frozen values, each with the id of the request it belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine.errors import EngineError
from engine.explain.comparison import Comparison
from engine.explain.profile import MachineProfile
from engine.explain.trace import MemoryState, TurnTrace
from engine.models.choices import AdapterChoice
from engine.stats import TurnStats
from engine.templates.checked import Finding
from engine.templates.plain import TemplateKind
from engine.tools import ToolStyle


class FinishReason(StrEnum):
    """Why a reply ended."""

    END = "end"  # the model's own end token
    STOP = "stop"  # a stop string
    LENGTH = "length"  # max_tokens, or the context is full
    CANCELLED = "cancelled"  # the person pressed Stop


class LoadStage(StrEnum):
    """The long steps before a model can answer, in order."""

    DOWNLOAD = "download"
    VERIFY = "verify"  # what was downloaded, where that is a step of its own
    IMPORT = "import"
    LOAD = "load"
    CONNECT = "connect"  # to a server, in place of all the others


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known of a loaded model.

    Attributes:
        name: The name in the registry.
        label: For people: "SmolLM2 135M Instruct".
        architecture: As in config.json, e.g. "llama".
        parameters: Number of weights.
        context_limit: Most tokens a conversation can hold.
        device: "cpu", "cuda" or "mps".
        device_reason: Why this device, in words.
        dtype: How the weights are held, e.g. "int4" or "float32".
        runner: What computes with them and why, in words.
        threads: CPU threads in use.
        weight_bytes: Memory held by the weights.
        kv_bytes_per_token: Memory that one token of a conversation costs.
        load_s: Seconds the load took.
        memory: How its memory was planned; None where it is not on this machine.
        end_ids: Tokens that end a reply.
        sampling: How its makers sample it, by the names of `SamplingParams`; empty where they do not say.
        tool_style: How the model writes calls of tools, as `engine.tools.ToolStyle`; None if it knows none.
        template: With which template its chats are written; "none" for a base model with which no chat is possible yet.
        server: The name of the server on which it runs; empty for a model on this machine. Of one on a server only its
            name, `load_s` and, where the server tells it, `context_limit` are known; all other figures are 0.
        host: Where its text goes: the server's host name, and port if it has one.
        compiling: Whether faster kernels are being compiled for it, and take over when they are.
    """

    name: str
    label: str
    architecture: str
    parameters: int
    context_limit: int
    device: str
    device_reason: str
    dtype: str
    threads: int
    weight_bytes: int
    kv_bytes_per_token: int
    load_s: float
    runner: str = ""
    memory: MemoryState | None = None
    end_ids: frozenset[int] = frozenset()
    sampling: tuple[tuple[str, float], ...] = ()
    tool_style: ToolStyle | None = None
    template: TemplateKind = TemplateKind.OWN
    server: str = ""
    host: str = ""
    compiling: bool = False

    @property
    def remote(self) -> bool:
        """Whether what is asked leaves this machine."""
        return bool(self.server)


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """A step towards a loaded model.

    Attributes:
        done: Bytes (download) or steps (import, load) done.
        total: The same unit; 0 when not known.
        sentence: For people: "Downloading SmolLM2: 40 of 93 MB".
    """

    request_id: str
    stage: LoadStage
    done: int
    total: int
    sentence: str


COMPILER: Final = "kernel-compiler"
"""The name of the thread that compiles kernels; nothing that LLVM needs may be taken down under it."""

UPGRADE: Final = "upgrade"
"""The request id of a `Loaded` that nobody asked for: the same model goes on, with faster kernels or another label."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The model can answer now."""

    request_id: str
    info: ModelInfo


@dataclass(frozen=True, slots=True)
class Unloaded:
    """A model gave its memory back: to one that is being loaded, or because it is removed or could not stay.

    Attributes:
        request_id: Of that load or removal; UPGRADE where nobody asked for it.
        name: The name of the model in the registry.
    """

    request_id: str
    name: str


@dataclass(frozen=True, slots=True)
class PrefillProgress:
    """Prompt tokens in the KV cache so far.

    Attributes:
        cached: Tokens reused; they cost nothing.
        done: Tokens prefilled by this request so far.
        total: Tokens this request has to prefill.
        at: `time.perf_counter()` in seconds when it was so; 0 where that is not known.
        note: For people: what is waited for, where it is a server; else empty. Its counts are all 0 then.
    """

    request_id: str
    cached: int
    done: int
    total: int
    at: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token and how likely the model found it, before temperature, penalties and what else changes its choice.

    Attributes:
        token: Its bytes; a character may be spread over several tokens.
        logprob: Natural logarithm of its probability.
        top: The likeliest tokens at its place, likeliest first; none within those.
    """

    token: bytes
    logprob: float
    top: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class TextDelta:
    """One decoded token, and the text that became printable with it.

    Attributes:
        text: May be empty: half a character, or what could be the start of a stop string, is held back.
        token_ids: The new ids, one or more; none of text that a server sent, which need not be one token.
        at: `time.perf_counter()` in seconds when the token was sampled.
        logprob: Of the token, where the request asked for it and the token is part of the reply's text.
    """

    request_id: str
    text: str
    token_ids: tuple[int, ...]
    at: float
    logprob: TokenLogprob | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The reply is complete.

    Attributes:
        text: The whole text; equals the deltas joined.
        token_ids: All generated ids, with the end token if there was one.
        left_out: Indices of the request's messages that did not fit the context and were not read.
        trace: Everything that was noted about the turn.
    """

    request_id: str
    reason: FinishReason
    text: str
    token_ids: tuple[int, ...]
    stats: TurnStats
    left_out: tuple[int, ...] = ()
    trace: TurnTrace | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The request ended with an error. `bug` marks what is no fault of the person or the machine."""

    request_id: str
    error: EngineError
    bug: bool = False


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model on this machine.

    Attributes:
        name: The name in the registry.
        label: For people.
        parameters: Number of weights.
        nbytes: Disk it takes.
        default: Whether it is loaded when none is named.
        server: The name of the server on which it runs; empty for a model on this machine, and only of one on this
            machine all that follows is known.
        folder: Where it lies.
        architecture: As in config.json, e.g. "llama".
        origin: Where it was downloaded from, e.g. "owner/name@revision"; empty for a file of the person's own.
        licence: Its identifier, e.g. "apache-2.0"; empty where it is not known.
        context: Most tokens of a conversation, as its makers say; 0 where they do not.
        weights: How its weights were asked to be held at its import; empty for what suits.
        adapters: LoRA adapters that were added to it.
        draft: The name of its draft model; empty for none.
        plain_template: Whether it has no chat template of its own and Loquat's plain one is used.
        template: With which template its chats are written; "none" for a base model with which no chat is possible yet.
        findings: What a check of its template and tokenizer found, the serious ones first; see `loquat models check`.
    """

    name: str
    label: str
    parameters: int
    nbytes: int
    default: bool
    server: str = ""
    folder: str = ""
    architecture: str = ""
    origin: str = ""
    licence: str = ""
    context: int = 0
    weights: str = ""
    adapters: tuple[AdapterChoice, ...] = ()
    draft: str = ""
    plain_template: bool = False
    template: TemplateKind = TemplateKind.OWN
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelsListed:
    """All models on this machine, by name, and after them those that the person chose on servers."""

    request_id: str
    models: tuple[InstalledModel, ...]


@dataclass(frozen=True, slots=True)
class CheckProgress:
    """How many questions of a conversation have been answered with the cache and without."""

    request_id: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Checked:
    """What answering a conversation with the cache and without showed.

    Attributes:
        tokens: Tokens of all answers with the cache.
        equal_tokens: Of them, those before the first difference in their answer.
        equal: Whether all answers were the same.
        kept_s, fresh_s: Seconds of all answers with the cache, and without.
    """

    request_id: str
    tokens: int
    equal_tokens: int
    equal: bool
    kept_s: float
    fresh_s: float


@dataclass(frozen=True, slots=True)
class Previewed:
    """What a request would cost if it were sent now; nothing was computed.

    Attributes:
        prompt_tokens: Of the whole prompt, without what would be left out.
        cached_tokens: Of them, held by a cache in memory or on disk.
        draft_tokens: Of the newest message, the draft, alone.
        context_limit: Most tokens that a conversation can hold.
        left_out: Indices of the request's messages that would not fit.
        about: Whether the tokens were not counted, because so many cannot fit.
    """

    request_id: str
    prompt_tokens: int
    cached_tokens: int
    draft_tokens: int
    context_limit: int
    left_out: tuple[int, ...] = ()
    about: bool = False


@dataclass(frozen=True, slots=True)
class Titled:
    """A title for a conversation; empty if the model found none."""

    request_id: str
    title: str


@dataclass(frozen=True, slots=True)
class CompareProgress:
    """One token of the experiment "with and without the cache".

    Attributes:
        cached: Whether the cache was used; the run with it comes first.
        index: Which token, from 0.
        total: Tokens of each of the two runs.
        ms: Milliseconds it took.
    """

    request_id: str
    cached: bool
    index: int
    total: int
    ms: float


@dataclass(frozen=True, slots=True)
class Compared:
    """What the experiment showed."""

    request_id: str
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Profiled:
    """What this machine can do with the loaded model."""

    request_id: str
    profile: MachineProfile


LoadEvent = LoadProgress | Unloaded | Loaded | Failed
ChatEvent = PrefillProgress | TextDelta | Finished | Failed
CheckEvent = CheckProgress | Checked | Failed
CompareEvent = CompareProgress | Compared | Failed
Event = LoadEvent | ChatEvent | CheckEvent | CompareEvent | ModelsListed | Previewed | Profiled | Titled
