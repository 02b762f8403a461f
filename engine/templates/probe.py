"""The small conversations that chat templates are tried with."""

from __future__ import annotations

from typing import Any, Final

SYSTEM: Final = "Answer in verse."
QUESTIONS: Final = ("What is a quince?", "Where does it grow?", "Since when?")
REPLIES: Final = ("A fruit.", "In gardens.")
THOUGHT: Final = "the word is rare"
DAY: Final = "2026-03-05"
TOOL_NAME: Final = "quince_price"
TOOL: Final[dict[str, Any]] = {
    "type": "function",
    "function": {
        "name": TOOL_NAME,
        "description": "Tells a price.",
        "parameters": {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
    },
}
# Composed, printable text: what every tokenizer should give back as it was.
TEXTS: Final = (
    "Größe naïve Ελληνικά 你好世界 ไทย",
    "👍🏽 🏳️‍🌈",
    "def f(x): return {x: 'y'}",
    "1.234,50 €",
)
