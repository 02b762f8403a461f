"""Loquat's single-user engine. The names exported here are torch-free."""

from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import GREEDY, EngineConfig, SamplingParams
from engine.errors import EngineError
from engine.events import (
    Event,
    Failed,
    Finished,
    FinishReason,
    Loaded,
    LoadProgress,
    LoadStage,
    ModelInfo,
    PrefillProgress,
    TextDelta,
)
from engine.paths import Paths, default_paths
from engine.stats import TurnStats
from engine.worker import Worker

__all__ = [
    "GREEDY",
    "ChatRequest",
    "EngineConfig",
    "EngineError",
    "Event",
    "Failed",
    "FinishReason",
    "Finished",
    "LoadProgress",
    "LoadStage",
    "Loaded",
    "Message",
    "ModelInfo",
    "Paths",
    "PrefillProgress",
    "RequestHandle",
    "SamplingParams",
    "TextDelta",
    "TurnStats",
    "Worker",
    "default_paths",
]
