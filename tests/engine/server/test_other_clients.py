"""Other programs as they are: curl as in vLLM's quick start, and the `llm` command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.engine.server.conftest import NAME, PATIENCE_S, Says

# The body of vLLM's quick start (docs.vllm.ai, "OpenAI Chat Completions API with vLLM"), with our model's name.
QUICK_START = {
    "model": NAME,
    "messages": [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "Who won the world series in 2020?"},
    ],
    "temperature": 0,
    "max_tokens": 128,
}


def curl(url: str, body: dict) -> str:
    command = ["curl", "--silent", "--show-error", "--fail", "--max-time", str(PATIENCE_S), url]
    command += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
    return subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl on this machine")
def test_curl_as_in_vllms_quick_start(serve):
    served = serve(Says("The Dodgers won."))
    url = f"{served.server.url}/chat/completions"
    whole = json.loads(curl(url, QUICK_START))
    assert whole["choices"][0]["message"]["content"] == "The Dodgers won."
    events = curl(url, {**QUICK_START, "stream": True}).split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    chunks = [json.loads(event.removeprefix("data: ")) for event in events[:-2]]
    assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks) == "The Dodgers won."
    text = curl(f"{served.server.url}/completions", {"model": NAME, "prompt": "San Francisco is a", "max_tokens": 7})
    assert json.loads(text)["object"] == "text_completion"


def test_the_llm_command_line_chats_in_two_turns(serve, tmp_path):
    served = serve(Says("I am a pear.", "Green."))
    models = f"- model_id: ours\n  model_name: {NAME}\n  api_base: {served.server.url}\n  api_key_name: ours\n"
    (tmp_path / "extra-openai-models.yaml").write_text(models)
    (tmp_path / "keys.json").write_text('{"ours": "none"}')

    def llm(*arguments: str) -> str:
        command = [sys.executable, "-m", "llm", *arguments]
        env = {**os.environ, "LLM_USER_PATH": str(tmp_path)}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert llm("prompt", "-m", "ours", "-s", "Be brief.", "Who are you?") == "I am a pear."  # as a stream
    assert llm("prompt", "-c", "--no-stream", "Which colour?") == "Green."
    assert served.metrics["loquat_cached_tokens_total"] > 60  # the second turn came as a whole history, and was held
