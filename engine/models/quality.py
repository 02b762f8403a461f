"""What packing a model's weights cost in quality, noted beside them when they were imported. Torch-free."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from engine.models.model_folder import write_json

QUALITY: Final = "quality.json"
_FELT: Final = 2.0  # percent


@dataclass(frozen=True, slots=True)
class Quality:
    """Mean negative log likelihoods of the same text, in nats a token: with the weights as they came, and packed.

    Attributes:
        tokens: Of plain English that were read.
        floats: With the weights unpacked from what they came in.
        packed: With those that the CPU kernels read.
        weights: What the latter are held in: "int4" or "int8".
    """

    tokens: int
    floats: float
    packed: float
    weights: str

    @property
    def sentence(self) -> str:
        """What it says, for people."""
        change = 100 * (self.packed / self.floats - 1)
        percent = f"{change:+.1f}" if round(change, 1) else "0.0"
        said = (
            f"As it came, its mean NLL over {self.tokens} tokens is {self.floats:.3f}; packed in {self.weights} for "
            f"the CPU, {self.packed:.3f} ({percent} %)."
        )
        return f"{said} Added with --weights int8 it keeps more." if change > _FELT and self.weights == "int4" else said


def write_quality(folder: Path, quality: Quality) -> None:
    """Keep it in the model's folder.

    Raises:
        OSError: The disk refused.
    """
    write_json(folder / QUALITY, asdict(quality))


def read_quality(folder: Path) -> Quality | None:
    """What was noted of the model in a folder; None where nothing was, or where it cannot be read."""
    try:
        said = json.loads((folder / QUALITY).read_text(encoding="utf-8"))
        return Quality(int(said["tokens"]), float(said["floats"]), float(said["packed"]), str(said["weights"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None
