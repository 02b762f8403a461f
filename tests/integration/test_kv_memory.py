"""The memory of the process, as the system counts it, stays within the budget for caches."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.heap import release_freed_memory

BUDGET = 100 << 20

TALK = """
import json, sys, threading
from pathlib import Path
import psutil
from engine.decoder import load_decoder
from engine.kv_disk import KVDisk
from engine.kv_store import KVStore

budget, tokens, chats = int(sys.argv[3]), 1500, 12
runner = load_decoder(Path(sys.argv[1]))
store = KVStore(runner, budget, KVDisk(Path(sys.argv[2]), "f" * 64, 1 << 40))
process = psutil.Process()

def ask(name, ids):
    reuse = store.begin(name, ids)
    rest = reuse.cache.reuse(ids)
    for start in range(0, len(rest), 64):
        reuse.cache.prefill(rest[start : start + 64])
    return reuse

warm = store.fresh()
for _ in range(24):
    warm.prefill(list(range(64)))
del warm
before = process.memory_info().rss
worst, peak, ended, wrong = 0, [0], threading.Event(), 0

def watch():
    while not ended.wait(0.002):
        peak[0] = max(peak[0], process.memory_info().rss - before)

watcher = threading.Thread(target=watch)
watcher.start()
sources = []
for turn in range(2):
    for n in range(chats):
        ids = [n + 3, *((7 * i + n) % 290 for i in range(tokens)), *range(3, 3 + 20 * turn)]
        reuse = ask(str(n), ids)
        wrong += reuse.cache.ids != ids
        sources.append(reuse.source)
        del reuse
        store.end(str(n))
        worst = max(worst, process.memory_info().rss - before)
ended.set()
watcher.join()
store.close()
cost = runner.kv_bytes_per_token * tokens
print(json.dumps(dict(worst=worst, peak=peak[0], cost=cost, wrong=wrong, sources=sources)))
"""


@pytest.mark.slow
def test_many_long_conversations_stay_within_the_budget(tiny_model, tmp_path):
    folder = tiny_model("llama", num_hidden_layers=8, num_key_value_heads=4, head_dim=64, max_position_embeddings=4096)
    command = [sys.executable, "-c", TALK, str(folder), str(tmp_path), str(BUDGET)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert 12 * found["cost"] > 2 * BUDGET  # they do not all fit
    assert found["wrong"] == 0
    assert set(found["sources"][12:]) == {"disk"}
    assert found["worst"] <= 1.1 * BUDGET
    assert found["peak"] <= 1.1 * BUDGET + found["cost"]  # while one is written or restored


def test_giving_memory_back_is_harmless_anywhere():
    release_freed_memory()
