"""Every setting declared once: default, range, label, help. The dialog is drawn from it."""

from __future__ import annotations

from typing import Final

from app.assets import ASSETS
from app.fonts import INTER, SERIF, SYSTEM_FONT
from app.i18n import CHINESE, ENGLISH, SYSTEM, mark
from app.presets import BALANCED, CREATIVE, CUSTOM, EXACT, OWN
from app.setting import Setting
from engine.config import DTYPES, KV_DTYPES, MAX_SEED, EngineConfig, SamplingParams
from engine.updates import read_source

__all__ = ["LOOK", "REBUILDS", "SETTINGS", "Setting"]

GIB: Final = 1 << 30
LAST_USED, DEFAULT, NONE = "last", "default", "none"  # what is loaded at the start
LOOK: Final = frozenset({"accent", "font", "text_size", "density"})  # what `Settings.look` is made of
# The window is made anew when one of these changes: everything in it has another size or other words.
REBUILDS: Final = frozenset({"language", "font", "text_size", "density"})
TEXT_SIZES: Final = range(80, 151, 10)  # per cent
_SAMPLING: Final = SamplingParams()
_ENGINE: Final = EngineConfig()
_AUTO: Final = mark("declarations", "Automatic")
UPDATES_FROM: Final = read_source(ASSETS / "updates.json")  # a build that knows of none has no such setting
_UPDATES: Final = mark("declarations", "Tell me about new versions")
_ABOUT_UPDATES: Final = mark(
    "declarations", "Once a day Loquat asks its own site which version is the newest. It downloads nothing by itself."
)
SETTINGS: Final = (
    Setting(
        "theme",
        "choice",
        "system",
        mark("declarations", "Theme"),
        mark("declarations", "Light or dark, or as the system says."),
        group=mark("declarations", "Appearance"),
        choices={
            "system": mark("declarations", "As the system says"),
            "light": mark("declarations", "Light"),
            "dark": mark("declarations", "Dark"),
        },
    ),
    Setting(
        "accent",
        "accent",
        "loquat",
        mark("declarations", "Accent"),
        mark("declarations", "The one colour for what is chosen, pressed or live."),
        group=mark("declarations", "Appearance"),
        choices={
            "loquat": "Loquat",
            "rose": mark("declarations", "Rose"),
            "violet": mark("declarations", "Violet"),
            "blue": mark("declarations", "Blue"),
            "teal": mark("declarations", "Teal"),
            "moss": mark("declarations", "Moss"),
        },
    ),
    Setting(
        "font",
        "font",
        INTER,
        mark("declarations", "Font"),
        mark("declarations", "Of everything but code; a serif is for what is read at length, messages and titles."),
        group=mark("declarations", "Appearance"),
        choices={
            INTER: "Inter",
            SYSTEM_FONT: mark("declarations", "The system's"),
            SERIF: mark("declarations", "Serif for reading"),
        },
    ),
    Setting(
        "text_size",
        "choice",
        "100",
        mark("declarations", "Text size"),
        mark("declarations", "Beside the size that the system sets for all programs."),
        group=mark("declarations", "Appearance"),
        choices={str(percent): f"{percent} %" for percent in TEXT_SIZES},
    ),
    Setting(
        "density",
        "choice",
        "comfortable",
        mark("declarations", "Density"),
        mark("declarations", "How much room there is around things."),
        group=mark("declarations", "Appearance"),
        choices={"comfortable": mark("declarations", "Comfortable"), "compact": mark("declarations", "Compact")},
    ),
    Setting(
        "language",
        "choice",
        SYSTEM,
        mark("declarations", "Language"),
        mark("declarations", "Of the window; models answer in the language they are asked in."),
        group=mark("declarations", "Appearance"),
        choices={SYSTEM: mark("declarations", "As the system says"), ENGLISH: "English", CHINESE: "简体中文"},
    ),
    Setting(
        "load_at_start",
        "choice",
        LAST_USED,
        mark("declarations", "Load at the start"),
        mark("declarations", "The model of last time, the default one, or none until you choose."),
        group=mark("declarations", "Desktop"),
        choices={
            LAST_USED: mark("declarations", "The last used"),
            DEFAULT: mark("declarations", "The default"),
            NONE: mark("declarations", "None"),
        },
    ),
    Setting("last_model", "text", ""),
    Setting(
        "tray",
        "switch",
        True,
        mark("declarations", "Icon in the tray"),
        mark("declarations", "Opens Loquat and asks quickly, on desktops that have a tray."),
        group=mark("declarations", "Desktop"),
    ),
    Setting(
        "close_to_tray",
        "switch",
        False,
        mark("declarations", "Keep running in the tray"),
        mark("declarations", "Closing the window leaves the model loaded; Quit in the tray ends Loquat."),
        group=mark("declarations", "Desktop"),
    ),
    Setting(
        "notify",
        "switch",
        True,
        mark("declarations", "Tell when a long answer is done"),
        mark("declarations", "A notification, if the answer took over 10 seconds and the window is not in front."),
        group=mark("declarations", "Desktop"),
    ),
    Setting(
        "tell_of_updates",
        "switch",
        False,
        _UPDATES if UPDATES_FROM else "",
        _ABOUT_UPDATES if UPDATES_FROM else "",
        group=mark("declarations", "Desktop") if UPDATES_FROM else "",
    ),
    Setting("updates_looked_at", "number", 0.0, high=1e12),
    Setting(
        "system_prompt",
        "text",
        "",
        mark("declarations", "System prompt"),
        mark("declarations", "Said to the model before a new chat; chats that have begun keep theirs."),
        group=mark("declarations", "Chats"),
    ),
    Setting(
        "overflow",
        "choice",
        "drop_oldest",
        mark("declarations", "When a chat outgrows the context"),
        mark("declarations", "Leave out its oldest turns, and mark them; or stop, and say so."),
        group=mark("declarations", "Chats"),
        choices={"drop_oldest": mark("declarations", "Leave out the oldest"), "stop": mark("declarations", "Stop")},
    ),
    Setting(
        "read_ahead",
        "switch",
        True,
        mark("declarations", "Read while you type"),
        mark(
            "declarations", "What you have typed so far is read already, so the answer begins sooner. Not on battery."
        ),
        group=mark("declarations", "Chats"),
    ),
    Setting(
        "auto_title",
        "switch",
        True,
        mark("declarations", "Let the model name chats"),
        mark("declarations", "After the first answer, when nothing else is to be done; a title of yours stays."),
        group=mark("declarations", "Chats"),
    ),
    Setting(
        "preset",
        "choice",
        BALANCED,
        mark("declarations", "Manner"),
        mark("declarations", "Sets the five values below: exact repeats itself, the model's own is as its makers say."),
        group=mark("declarations", "Answers"),
        choices={
            EXACT: mark("declarations", "Exact (greedy)"),
            BALANCED: mark("declarations", "Balanced"),
            CREATIVE: mark("declarations", "Creative"),
            OWN: mark("declarations", "The model's own"),
            CUSTOM: mark("declarations", "Custom"),
        },
        derived=True,
    ),
    Setting(
        "temperature",
        "number",
        _SAMPLING.temperature,
        mark("declarations", "Temperature"),
        mark("declarations", "0 always takes the likeliest word; higher is more varied."),
        group=mark("declarations", "Answers"),
        low=0,
        high=2,
    ),
    Setting(
        "top_k",
        "integer",
        _SAMPLING.top_k,
        mark("declarations", "Top k"),
        mark("declarations", "Chooses among this many likeliest tokens; 0 is no limit."),
        group=mark("declarations", "Answers"),
        low=0,
        high=1_000_000,
    ),
    Setting(
        "top_p",
        "number",
        _SAMPLING.top_p,
        mark("declarations", "Top p"),
        mark("declarations", "Chooses among the likeliest tokens that make up this share."),
        group=mark("declarations", "Answers"),
        low=0,
        high=1,
    ),
    Setting(
        "min_p",
        "number",
        _SAMPLING.min_p,
        mark("declarations", "Min p"),
        mark("declarations", "Leaves out tokens less likely than this fraction of the likeliest."),
        group=mark("declarations", "Answers"),
        low=0,
        high=1,
    ),
    Setting(
        "repetition_penalty",
        "number",
        _SAMPLING.repetition_penalty,
        mark("declarations", "Repetition penalty"),
        mark("declarations", "Above 1, words that were used become less likely."),
        group=mark("declarations", "Answers"),
        low=0.1,
        high=5,
    ),
    Setting(
        "seed",
        "integer",
        None,
        mark("declarations", "Seed"),
        mark("declarations", "The same seed gives the same answer; empty draws one each time."),
        group=mark("declarations", "Answers"),
        low=0,
        high=MAX_SEED,
        optional=mark("declarations", "Drawn"),
    ),
    Setting(
        "max_tokens",
        "integer",
        None,
        mark("declarations", "Longest answer"),
        mark("declarations", "In tokens; empty means until the context is full."),
        group=mark("declarations", "Answers"),
        low=1,
        high=10_000_000,
        optional=mark("declarations", "No limit"),
    ),
    Setting(
        "max_context",
        "integer",
        None,
        mark("declarations", "Context limit"),
        mark("declarations", "Most tokens of a chat; empty takes what the model and the memory allow."),
        group=mark("declarations", "Memory"),
        low=512,
        high=10_000_000,
        optional=_AUTO,
        reload=True,
    ),
    Setting(
        "memory_percent",
        "integer",
        None,
        mark("declarations", "Memory that Loquat may use"),
        mark("declarations", "In per cent of the device's memory; empty leaves enough for other programs."),
        group=mark("declarations", "Memory"),
        low=5,
        high=100,
        optional=_AUTO,
        reload=True,
    ),
    Setting(
        "kv_dtype",
        "choice",
        _ENGINE.kv_dtype,
        mark("declarations", "Cached keys and values"),
        mark("declarations", "Smaller ones let more of a chat fit into memory, a little less exactly."),
        group=mark("declarations", "Memory"),
        choices={name: name for name in KV_DTYPES} | {"auto": _AUTO},
        reload=True,
    ),
    Setting(
        "save_caches",
        "switch",
        _ENGINE.save_caches,
        mark("declarations", "Keep caches on disk"),
        mark("declarations", "A chat goes on without being read again after a restart."),
        group=mark("declarations", "Memory"),
        reload=True,
    ),
    Setting(
        "cache_disk_gib",
        "number",
        _ENGINE.cache_disk_bytes / GIB,
        mark("declarations", "Disk for caches"),
        mark("declarations", "In GiB; the oldest go first when it is full."),
        group=mark("declarations", "Memory"),
        low=0.1,
        high=4096,
        reload=True,
    ),
    Setting(
        "device",
        "choice",
        _ENGINE.device,
        mark("declarations", "Device"),
        mark("declarations", "What the model runs on; automatic takes the fastest there is."),
        group=mark("declarations", "Engine"),
        choices={
            "auto": _AUTO,
            "cuda": mark("declarations", "NVIDIA GPU (CUDA)"),
            "mps": mark("declarations", "Apple GPU (MPS)"),
            "cpu": "CPU",
        },
        reload=True,
    ),
    Setting(
        "dtype",
        "choice",
        _ENGINE.dtype,
        mark("declarations", "Weight format"),
        mark("declarations", "Fewer bits are faster and smaller, and a little less exact."),
        group=mark("declarations", "Engine"),
        choices={name: name for name in DTYPES} | {"auto": _AUTO},
        reload=True,
    ),
    Setting(
        "threads",
        "integer",
        None,
        mark("declarations", "CPU threads"),
        mark("declarations", "Empty takes one for each physical core."),
        group=mark("declarations", "Engine"),
        low=1,
        high=1024,
        optional=_AUTO,
        reload=True,
    ),
    Setting("window_geometry", "text", ""),
    Setting("folded_folders", "text", "[]"),
    Setting("inspector_open", "switch", False),  # beside the conversation
    Setting("inspector_page", "text", "turn"),
    Setting("serve_port", "integer", 8000, low=1, high=65_535),
    Setting("sampling_chosen", "switch", False),  # otherwise it follows what the model's makers say
)
