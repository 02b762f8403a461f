"""Every setting declared once: default, range, label, help. The dialog is drawn from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from engine.config import DTYPES, KV_DTYPES, MAX_SEED, EngineConfig, SamplingParams

Kind = Literal["choice", "switch", "number", "integer", "text"]
GIB: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    Attributes:
        default: Also what a missing or unusable value in the file becomes.
        label, help: For the settings dialog; both are empty for what the program remembers by itself.
        group: The heading in the dialog under which it stands.
        low, high: Bounds of a number or integer, inclusive.
        choices: The values of a choice, and what people read for each.
        optional: What people read for None; empty where None is not allowed.
        reload: Whether it takes effect when a model is loaded.
    """

    name: str
    kind: Kind
    default: Any
    label: str = ""
    help: str = ""
    group: str = ""
    low: float = 0
    high: float = 0
    choices: Mapping[str, str] = field(default_factory=dict)
    optional: str = ""
    reload: bool = False

    def check(self, value: Any) -> Any:  # noqa: ANN401 - a value of any kind comes in from the file
        """The value, if it is allowed.

        Raises:
            ValueError: It is not; the message is a sentence that says what is.
        """
        if value is None and self.optional:
            return None
        if self.kind == "text":
            return self._require(value, isinstance(value, str), "must be text")
        if self.kind == "switch":
            return self._require(value, isinstance(value, bool), "must be on or off")
        if self.kind == "choice":
            fits = isinstance(value, str) and value in self.choices
            return self._require(value, fits, f"must be one of {', '.join(self.choices)}")
        types = (int,) if self.kind == "integer" else (int, float)
        fits = isinstance(value, types) and not isinstance(value, bool) and self.low <= value <= self.high
        return self._require(value, fits, f"must be {self.range}")

    @property
    def range(self) -> str:
        """The bounds in words."""
        return f"between {_number(self.low)} and {_number(self.high)}"

    def _require(self, value: Any, fits: bool, rule: str) -> Any:  # noqa: ANN401
        if not fits:
            raise ValueError(f"{self.label or self.name} {rule}.")
        return value


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


_SAMPLING: Final = SamplingParams()
_ENGINE: Final = EngineConfig()
_AUTO: Final = "Automatic"
SETTINGS: Final = (
    Setting(
        "theme",
        "choice",
        "system",
        "Theme",
        "Light or dark, or as the system says.",
        group="Appearance",
        choices={"system": "As the system says", "light": "Light", "dark": "Dark"},
    ),
    Setting(
        "system_prompt",
        "text",
        "",
        "System prompt",
        "Said to the model before a new conversation; conversations that have begun keep theirs.",
        group="Conversations",
    ),
    Setting(
        "overflow",
        "choice",
        "drop_oldest",
        "When a conversation outgrows the context",
        "Leave out its oldest turns, and mark them; or stop, and say so.",
        group="Conversations",
        choices={"drop_oldest": "Leave out the oldest", "stop": "Stop"},
    ),
    Setting(
        "read_ahead",
        "switch",
        True,
        "Read while you type",
        "What you have typed so far is read already, so the answer begins sooner. Not on battery.",
        group="Conversations",
    ),
    Setting(
        "temperature",
        "number",
        _SAMPLING.temperature,
        "Temperature",
        "0 always takes the likeliest word; higher is more varied.",
        group="Answers",
        low=0,
        high=2,
    ),
    Setting(
        "top_k",
        "integer",
        _SAMPLING.top_k,
        "Top k",
        "Chooses among this many likeliest tokens; 0 is no limit.",
        group="Answers",
        low=0,
        high=1_000_000,
    ),
    Setting(
        "top_p",
        "number",
        _SAMPLING.top_p,
        "Top p",
        "Chooses among the likeliest tokens that make up this share.",
        group="Answers",
        low=0,
        high=1,
    ),
    Setting(
        "min_p",
        "number",
        _SAMPLING.min_p,
        "Min p",
        "Leaves out tokens less likely than this fraction of the likeliest.",
        group="Answers",
        low=0,
        high=1,
    ),
    Setting(
        "repetition_penalty",
        "number",
        _SAMPLING.repetition_penalty,
        "Repetition penalty",
        "Above 1, words that were used become less likely.",
        group="Answers",
        low=0.1,
        high=5,
    ),
    Setting(
        "seed",
        "integer",
        None,
        "Seed",
        "The same seed gives the same answer; empty draws one each time.",
        group="Answers",
        low=0,
        high=MAX_SEED,
        optional="Drawn",
    ),
    Setting(
        "max_tokens",
        "integer",
        None,
        "Longest answer",
        "In tokens; empty means until the context is full.",
        group="Answers",
        low=1,
        high=10_000_000,
        optional="No limit",
    ),
    Setting(
        "max_context",
        "integer",
        None,
        "Context limit",
        "Most tokens of a conversation; empty takes what the model and the memory allow.",
        group="Memory",
        low=512,
        high=10_000_000,
        optional=_AUTO,
        reload=True,
    ),
    Setting(
        "memory_percent",
        "integer",
        None,
        "Memory that Loquat may use",
        "In per cent of the device's memory; empty leaves enough for other programs.",
        group="Memory",
        low=5,
        high=100,
        optional=_AUTO,
        reload=True,
    ),
    Setting(
        "kv_dtype",
        "choice",
        _ENGINE.kv_dtype,
        "Cached keys and values",
        "Smaller ones let more of a conversation fit into memory, a little less exactly.",
        group="Memory",
        choices={name: name for name in KV_DTYPES} | {"auto": _AUTO},
        reload=True,
    ),
    Setting(
        "save_caches",
        "switch",
        _ENGINE.save_caches,
        "Keep caches on disk",
        "A conversation goes on without being read again after a restart.",
        group="Memory",
        reload=True,
    ),
    Setting(
        "cache_disk_gib",
        "number",
        _ENGINE.cache_disk_bytes / GIB,
        "Disk for caches",
        "In GiB; the oldest go first when it is full.",
        group="Memory",
        low=0.1,
        high=4096,
        reload=True,
    ),
    Setting(
        "device",
        "choice",
        _ENGINE.device,
        "Device",
        "What the model runs on; automatic takes the fastest there is.",
        group="Engine",
        choices={"auto": _AUTO, "cuda": "NVIDIA GPU (CUDA)", "mps": "Apple GPU (MPS)", "cpu": "CPU"},
        reload=True,
    ),
    Setting(
        "dtype",
        "choice",
        _ENGINE.dtype,
        "Weight format",
        "Fewer bits are faster and smaller, and a little less exact.",
        group="Engine",
        choices={name: name for name in DTYPES} | {"auto": _AUTO},
        reload=True,
    ),
    Setting(
        "threads",
        "integer",
        None,
        "CPU threads",
        "Empty takes one for each physical core.",
        group="Engine",
        low=1,
        high=1024,
        optional=_AUTO,
        reload=True,
    ),
    Setting("window_geometry", "text", ""),
)
