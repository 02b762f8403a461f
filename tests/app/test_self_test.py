"""`loquat --self-test` says in one line of JSON whether the program works, and ends; nobody's data are in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.self_test import _end
from engine.models.bundled import OVERRIDE
from engine.models.catalogue import DEFAULT_MODEL
from engine.paths import Paths

COMMAND = [sys.executable, "-P", "-m", "app", "--self-test"]


def self_test(*arguments: str, code: int = 0, **environ: str) -> dict[str, Any]:
    done = subprocess.run(
        [*COMMAND, *arguments], env={**os.environ, **environ}, capture_output=True, text=True, check=False, timeout=280
    )
    assert (done.returncode, done.stdout.count("\n")) == (code, 1), (done.stdout, done.stderr)
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["ok"] is (code == 0)
    return report


def files(home: Paths) -> set[Path]:
    return set(home.data.parent.rglob("*"))


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.timeout(300)
def test_the_program_works_with_the_model_that_came_with_it(
    loquat_home: Paths, model_home: Paths, tmp_path: Path
) -> None:
    bundle = tmp_path / "bundle" / Path(DEFAULT_MODEL.member).name
    bundle.parent.mkdir()
    bundle.symlink_to(model_home.models / DEFAULT_MODEL.name / "source.gguf")
    output, temporary = tmp_path / "result.json", tmp_path / "temporary"
    temporary.mkdir()
    report = self_test("--self-test-output", str(output), TMPDIR=str(temporary), **{OVERRIDE: str(bundle.parent)})
    assert json.loads(output.read_text()) == report
    for part in ("first", "again"):
        assert 0 < report[part]["window_s"] < report[part]["model_s"] < report[part]["total_s"]
        assert report[part]["answer"]["pieces"] >= 3
        assert report[part]["answer"]["first_token_s"] < report[part]["answer"]["answer_s"]
        assert report[part]["model"]["label"] == DEFAULT_MODEL.label
    assert report["again"]["formula"]["colours"] > 3 and report["again"]["code"]["colours"] > 3
    assert report["sizes"]["data"] > DEFAULT_MODEL.nbytes
    assert list(temporary.iterdir()) == [], "nothing is left behind"
    assert files(loquat_home) == set(), "nothing of it is in the person's home"


@pytest.mark.model
@pytest.mark.timeout(120)
def test_one_that_takes_too_long_is_ended_and_says_what_it_was_doing(home_with_model: Paths, tmp_path: Path) -> None:
    before, temporary = files(home_with_model), tmp_path / "temporary"
    temporary.mkdir()
    report = self_test("--self-test-limit", "2", code=1, TMPDIR=str(temporary))
    assert report["sentence"].startswith("Loquat did not get on in time"), report
    assert list(temporary.iterdir()) == []
    assert files(home_with_model) == before
    commands = [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]
    assert not [command for command in commands if str(temporary) in command]


def test_without_a_model_it_fails_with_a_sentence(loquat_home: Paths) -> None:
    report = self_test(code=1)
    assert report["sentence"].startswith("There is no model named smollm2-135m-instruct")
    assert report["detail"] == ""


def test_a_file_that_is_no_model_is_told_by_its_sentence(loquat_home: Paths, tmp_path: Path) -> None:
    wrong = tmp_path / "model.gguf"
    wrong.write_bytes(b"no model" * 100)
    report = self_test("--model", str(wrong), code=1)
    assert "GGUF" in report["sentence"] and report["sentence"].endswith(".")


@pytest.mark.skipif(sys.platform != "linux", reason="the loader's variable is Linux's")
def test_a_window_that_cannot_open_is_a_failure_with_a_reason(home_with_model: Paths) -> None:
    report = self_test(code=1, QT_QPA_PLATFORM="nonsense")
    assert report["sentence"].startswith("Loquat ended with -6")
    assert "no Qt platform plugin could be initialized" in report["detail"]


def test_a_program_without_a_terminal_writes_its_file(loquat_home: Paths, tmp_path: Path) -> None:
    """Windows starts one so: there is no standard output, and Python says None."""
    output = tmp_path / "result.json"
    arguments = ["--self-test", "--self-test-output", str(output)]
    code = f"import sys; sys.stdout = sys.stderr = None; from app.__main__ import main; sys.exit(main({arguments!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert json.loads(output.read_text())["ok"] is False


def test_children_that_end_by_themselves_meanwhile_do_not_keep_it_from_ending(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(process: psutil.Process, recursive: bool) -> None:
        raise psutil.NoSuchProcess(process.pid)

    monkeypatch.setattr(psutil.Process, "children", gone)
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    _end(process)
    assert process.returncode is not None
