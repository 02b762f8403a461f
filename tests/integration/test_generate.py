"""`loquat generate` as a program: killed at any moment it loses nothing, does nothing twice, and ends the same."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from engine.remote.servers import FILE, servers_json
from tests.engine.remote.scripted import MODEL, Exchange, Scripted, running

PROMPTS = 120
KILLS = 20
PATIENCE_S = 60.0


@pytest.fixture
def server(loquat_home):
    """A server that says the prompt back, a little late, and notes what it was asked."""
    asked: Counter[str] = Counter()
    lock = threading.Lock()

    def say_back(exchange: Exchange) -> None:
        prompt = exchange.body["messages"][-1]["content"]
        with lock:
            asked[prompt] += 1
        exchange.begin_stream()
        exchange.piece(f"You said: {prompt}")
        time.sleep(0.01)
        exchange.piece(reason="stop")
        exchange.event({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 4}})
        exchange.end_stream()

    with running(Scripted([say_back])) as scripted:
        scripted.asked = asked
        loquat_home.config.mkdir(parents=True)
        (loquat_home.config / FILE).write_text(servers_json([scripted.server]), encoding="utf-8")
        yield scripted


def start(source: Path, out: Path) -> subprocess.Popen:
    command = [sys.executable, "-m", "app", "generate", "--input", str(source), "--output", str(out), "--greedy"]
    environment = {**os.environ, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    return subprocess.Popen(
        [*command, "--model", f"box/{MODEL}", "--batch", "4"], stderr=subprocess.PIPE, text=True, env=environment
    )


def written(out: Path) -> list[dict]:
    """The whole records there are."""
    raw = out.read_bytes() if out.exists() else b""
    return [json.loads(line) for line in raw.split(b"\n")[:-1]]


def grow(process: subprocess.Popen, out: Path, records: int) -> None:
    """Wait until there are so many records, or the program has ended."""
    until = time.monotonic() + PATIENCE_S
    while len(written(out)) < records and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.002)


@pytest.mark.slow
def test_twenty_kills_change_nothing(server, tmp_path) -> None:
    source = tmp_path / "in.jsonl"
    lines = [json.dumps({"prompt": f"number {n}", "id": f"n{n}"}) for n in range(PROMPTS)]
    lines[7] = "{malformed"
    source.write_text("\n".join(lines), encoding="utf-8")
    whole, killed = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    process = start(source, whole)
    assert process.wait(PATIENCE_S) == 1, process.stderr.read()  # line 8 has no answer
    assert "Line 8 is skipped: it is no JSON." in process.stderr.read()
    process.stderr.close()

    chance = random.Random(5)
    for _ in range(KILLS):
        server.asked.clear()
        done = {record["id"] for record in written(killed)}
        process = start(source, killed)
        grow(process, killed, len(done) + chance.randrange(1, 6))
        process.kill()
        process.wait(PATIENCE_S)
        process.stderr.close()
        assert not {f"n{prompt.removeprefix('number ')}" for prompt in server.asked} & done  # nothing twice
        assert done <= {record["id"] for record in written(killed)}  # nothing lost
        if chance.random() < 0.5:
            with killed.open("ab") as file:
                file.write(b'{"id": "n3", "line": 4, "te')  # as a torn write leaves it
    process = start(source, killed)
    assert process.wait(PATIENCE_S) == 1, process.stderr.read()
    process.stderr.close()
    assert killed.read_bytes() == whole.read_bytes()
    assert len(written(whole)) == PROMPTS


def test_a_server_that_is_gone_ends_the_run_and_the_next_one_goes_on(server, tmp_path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("\n".join(json.dumps({"prompt": f"number {n}"}) for n in range(8)), encoding="utf-8")
    answers = server.actions[0]

    def dies(exchange: Exchange) -> None:
        if server.asked.total() >= 4:
            exchange.send(401, {"error": {"message": "no"}})
        else:
            answers(exchange)

    server.actions = [dies]
    process = start(source, out)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2 and "asks for a key" in said
    done = len(written(out))
    assert 0 < done < 8
    server.actions = [answers]
    process = start(source, out)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0 and f"{8 - done} of 8 prompts are left" in said
    assert [record["text"] for record in written(out)] == [f"You said: number {n}" for n in range(8)]


@pytest.mark.slow
@pytest.mark.model
def test_the_default_model_completes_a_file_the_same_together_and_alone(home_with_model, tmp_path) -> None:
    source = tmp_path / "in.jsonl"
    questions = ["What is the capital of France?", "Name a colour.", "Write a line about the sea."]
    source.write_text("\n".join(json.dumps({"prompt": text}) for text in questions), encoding="utf-8")
    found: list[list[dict]] = []
    for batch in ("3", "1"):
        out = tmp_path / f"out{batch}.jsonl"
        command = [sys.executable, "-m", "app", "generate", "--input", str(source), "--output", str(out), "--greedy"]
        done = subprocess.run(
            [*command, "--max-tokens", "16", "--batch", batch], capture_output=True, text=True, timeout=280, check=False
        )
        assert done.returncode == 0, done.stderr
        found.append(written(out))
    assert found[0] == found[1] and len(found[0]) == 3
    assert "Paris" in found[0][0]["text"]
