"""Switching between models gives back the memory of the one before: what people miss most in other programs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.chat import RequestHandle
from engine.models.model_folder import SOURCE
from engine.models.registry import Registry
from engine.paths import Paths

SWITCHES = 20

SWITCH = """
import dataclasses, json, sys
from engine.chat import ChatRequest, Message
from engine.config import GREEDY, EngineConfig
from engine.engine import Engine
from engine.machine import resident
from engine.models.registry import Registry
from engine.paths import default_paths

paths = default_paths()
registry, engine = Registry(paths.models), Engine(EngineConfig(), paths.cache)
names, held, said = sys.argv[2:], {}, {}
for n in range(int(sys.argv[1]) + 1):
    name = names[n % len(names)]
    engine.load(registry.find(name))
    question = Message("user", "What is the capital of France?")
    request = ChatRequest(f"r{n}", (question,), dataclasses.replace(GREEDY, max_tokens=16), conversation_id="c")
    said.setdefault(name, []).append(list(engine.stream(request))[-1].text)
    held.setdefault(name, []).append(resident())
engine.unload()
print(json.dumps({"held": held, "said": said}))
"""


@pytest.mark.model
def test_twenty_switches_leave_the_memory_as_it_was(home_with_model: Paths) -> None:
    registry = Registry(home_with_model.models)
    first = registry.find(None)
    for _ in registry.add(first.folder / SOURCE, RequestHandle("twin"), name="twin", weights="int8"):
        pass
    command = [sys.executable, "-c", SWITCH, str(SWITCHES), first.name, "twin"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for name, held in found["held"].items():
        fresh, *later = held
        assert len(later) >= SWITCHES // 2 - 1
        assert max(later) < 1.1 * fresh, f"{name}: {held}"
        assert later[-1] < 1.03 * later[0], f"{name} grows: {held}"
    for name, said in found["said"].items():
        assert len(set(said)) == 1, f"{name} answers otherwise after a switch: {set(said)}"
