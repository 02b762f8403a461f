"""`loquat chat` as the README gives it: its own process, the default model, the default settings of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.paths import Paths

ROOT = Path(__file__).parent.parent.parent
FIGURES = {
    "text",
    "finish_reason",
    "prompt_tokens",
    "cached_tokens",
    "prefill_tokens",
    "completion_tokens",
    "queue_s",
    "template_s",
    "prefill_s",
    "ttft_s",
    "decode_tokens_per_s",
    "itl_ms",
    "kv_bytes",
    "model",
    "device",
    "dtype",
}
pytestmark = pytest.mark.model


def loquat(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in ("DISPLAY", "QT_QPA_PLATFORM")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_two_prompts_are_two_turns_of_one_conversation(home_with_model: Paths) -> None:
    prompts = ("What is the capital of France?", "And of Italy?")
    done = loquat("chat", "--greedy", "--json", *(word for prompt in prompts for word in ("--prompt", prompt)))
    assert done.returncode == 0, done.stderr
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert "Paris" in first["text"]
    assert set(first) >= FIGURES
    assert set(first["itl_ms"]) == {"p50", "p95", "max"}
    assert first["prompt_tokens"] == first["cached_tokens"] + first["prefill_tokens"]
    assert second["cached_tokens"] >= first["prompt_tokens"] + first["completion_tokens"] - 1


@pytest.mark.parametrize("arguments", [("--prompt", " "), ("--model", "no-such", "--prompt", "Hello")])
def test_what_cannot_be_answered_gets_one_sentence(arguments: tuple[str, ...], home_with_model: Paths) -> None:
    done = loquat("chat", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    sentence = done.stderr.strip().splitlines()[-1]
    assert sentence.endswith(".")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a display")
def test_without_a_display_the_terminal_is_named(loquat_home: Paths) -> None:
    done = loquat()
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "loquat chat" in done.stderr


@pytest.mark.parametrize("threads", ["-1", "2000"])
def test_a_number_of_threads_that_cannot_be_is_one_sentence(threads: str) -> None:
    done = loquat("chat", "--prompt", "hi", "--threads", threads)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"threads must be between 0 and 1,024, not {int(threads):,}.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="arguments are text there")
def test_bytes_that_are_no_text_and_more_threads_than_there_are(home_with_model: Paths) -> None:
    done = loquat("chat", "--greedy", "--max-tokens", "3", "--threads", "900", "--prompt", os.fsdecode(b"caf\xff\xfe"))
    assert done.returncode == 0
    assert "There are no more than" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_ends_the_chat_quietly(home_with_model: Paths) -> None:
    command = [sys.executable, "-m", "app", "chat", "--greedy", "--prompt", "Count to fifty."]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()
