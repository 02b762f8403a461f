"""A model folder -> the runner that suits it on this machine."""

from __future__ import annotations

from pathlib import Path

from engine.config import EngineConfig
from engine.device import DeviceChoice
from engine.runner import AnyRunner


def load_runner(folder: Path, choice: DeviceChoice, config: EngineConfig) -> AnyRunner:
    """Load the weights of a model folder.

    Raises:
        UnsupportedModel: No runner knows the architecture.
        BadModelFile: The weights cannot be read.
    """
    from engine.hf_runner import load_hf_runner

    return load_hf_runner(folder, choice, config.max_context)
