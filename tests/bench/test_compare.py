"""The comparison with llama.cpp, with a stand-in for llama-cpp-python that counts upwards."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.paths import Paths
from tests.bench import compare

STAND_IN = """
import ctypes
__version__ = "0.0"

class Llama:
    ctx = None
    def __init__(self, file, **settings):
        if open(file, "rb").read(4) != b"GGUF":
            raise ValueError(f"Failed to load model from file: {file}")
        assert settings["n_ctx"] >= 48 and settings["n_threads"] == settings["n_threads_batch"] == 1
        self.logits = (ctypes.c_float * VOCABULARY)()
        Llama.ctx = self
    def n_vocab(self):
        return VOCABULARY
    def reset(self):
        self.held = []
    def eval(self, ids):
        self.held += ids
        self.logits[:] = [0.0] * VOCABULARY
        self.logits[len(self.held) % VOCABULARY] = 1.0

def llama_get_logits(ctx):
    return ctypes.cast(ctx.logits, ctypes.POINTER(ctypes.c_float))
"""


@pytest.fixture
def model(tiny_model: Callable[..., Path], loquat_home: Paths) -> str:
    shutil.copytree(tiny_model("llama"), loquat_home.models / "tiny-llama")
    return "tiny-llama"


@pytest.fixture
def arguments(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[str]]:
    """Arguments for a stand-in with some vocabulary."""

    def make(vocabulary: int) -> list[str]:
        (tmp_path / "llama_cpp.py").write_text(STAND_IN.replace("VOCABULARY", str(vocabulary)))
        (tmp_path / "model.gguf").write_bytes(b"GGUF" + bytes(996))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        sizes = ["--tokens", "40", "--steps", "3", "--runs", "1", "--threads", "1"]
        return ["--llama-cpp", str(tmp_path / "model.gguf"), "--model", model, *sizes]

    return make


@pytest.mark.slow
def test_both_are_measured_on_the_same_prompt(
    arguments: Callable[[int], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare.main([*arguments(300), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["llama.cpp"] == "llama.cpp (llama-cpp-python 0.0) on model.gguf, 1 threads"
    for name in ("prefill", "decode"):
        values = made["figures"][name]
        assert values["ratio"] == pytest.approx(values["loquat"] / values["llama.cpp"])
        assert values["limit"] == compare.LIMITS[name]
    assert made["figures"]["agreed"]["loquat"] in (0, 1)


@pytest.mark.slow
def test_a_file_of_another_model_is_refused(
    arguments: Callable[[int], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare.main(arguments(7)) == 2
    assert capsys.readouterr().err.endswith("The file has 7 tokens in its vocabulary, too few to be of tiny-llama.\n")


def test_what_is_no_gguf_file_is_refused(
    arguments: Callable[[int], list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = arguments(300)
    (tmp_path / "model.gguf").write_bytes(b"nothing")
    assert compare.main(given) == 2
    assert "llama.cpp: Failed to load model from file: " in capsys.readouterr().err


def test_an_environment_without_llama_cpp_is_named(
    arguments: Callable[[int], list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = arguments(300)
    (tmp_path / "llama_cpp.py").unlink()
    assert compare.main(given) == 2
    assert "llama-cpp-python is not installed for " in capsys.readouterr().err


@pytest.mark.parametrize("extra", [["--python", "/no/such/python"], ["--llama-cpp", "missing.gguf"], ["--tokens", "0"]])
def test_bad_values_get_a_sentence(
    arguments: Callable[[int], list[str]], capsys: pytest.CaptureFixture[str], extra: list[str]
) -> None:
    assert compare.main([*arguments(300), *extra]) == 2
    assert capsys.readouterr().err.endswith(".\n")
