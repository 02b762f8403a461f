"""A program from its start to the first token of a short prompt, run by `loquat bench start` as a child.

`python -m engine.bench.first_token PATH SOURCE`, or in an installed program `loquat bench first-token PATH SOURCE`,
prints one JSON object: moments in seconds since the epoch.
"""

from __future__ import annotations

import time

BEGAN = time.time()  # before anything else is imported

import json  # noqa: E402
import queue  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from engine.chat import ChatRequest, Message  # noqa: E402
from engine.config import GREEDY, EngineConfig  # noqa: E402
from engine.events import Event, Failed, Loaded, LoadProgress, LoadStage, TextDelta  # noqa: E402
from engine.machine import peak_resident  # noqa: E402
from engine.paths import default_paths  # noqa: E402
from engine.worker import Worker  # noqa: E402

PROMPT = "What is the capital of France?"


def loquat(model: str) -> dict[str, float]:
    """Loquat as it is used: a worker loads the model and answers."""
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    worker = Worker(events.put, EngineConfig(save_caches=False), default_paths())
    worker.start()
    worker.load(model)
    request = ChatRequest("first", (Message("user", PROMPT),), GREEDY)
    moments: dict[str, float] = {}
    while "first_token" not in moments:
        event, now = events.get(), time.time()
        if isinstance(event, Failed):
            raise event.error
        if isinstance(event, LoadProgress) and event.stage is LoadStage.LOAD and event.done:
            moments["imported"] = now
        if isinstance(event, Loaded):
            moments["loaded"] = now
            worker.submit(request)
        if isinstance(event, TextDelta):
            moments["first_token"] = now
    worker.close()
    return moments


def transformers(source: str) -> dict[str, float]:
    """The same through transformers alone, from a model folder or a GGUF file."""
    import torch  # noqa: PLC0415 - importing is what is measured
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415

    moments = {"imported": time.time()}
    path = Path(source)
    gguf: dict[str, Any] = {"gguf_file": path.name} if path.is_file() else {}
    folder = path.parent if path.is_file() else path
    tokenizer: Any = AutoTokenizer.from_pretrained(folder, **gguf)
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **gguf)
    moments["loaded"] = time.time()
    prompt = [{"role": "user", "content": PROMPT}]
    ids = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    model.generate(**ids, max_new_tokens=1, do_sample=False)
    return {**moments, "first_token": time.time()}


def main(path: str, source: str) -> None:
    """Run a path and print its moments."""
    run = {"loquat": loquat, "transformers": transformers}[path]
    print(json.dumps({"began": BEGAN, **run(source), "peak_bytes": peak_resident()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
