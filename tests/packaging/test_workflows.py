"""What runs on other machines: each step is one command of the repository, actions are pinned, scripts parse."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SCRIPTS = sorted([*(ROOT / "packaging").rglob("*.sh"), ROOT / ".ci" / "run"])


def steps(workflow: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def test_there_are_two() -> None:
    assert [path.stem for path in WORKFLOWS] == ["ci", "release"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_step_runs_one_command_that_can_be_run_by_hand(workflow: Path) -> None:
    for step in steps(workflow):
        if "run" in step:
            words = step["run"].split()
            assert "\n" not in step["run"].strip()
            files = [word for word in words if "/" in word and not word.startswith(("-", '"', "$"))]
            assert files, step["run"]
            assert all((ROOT / file).is_file() for file in files)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_an_action_is_pinned_to_a_commit_and_named_with_its_version(workflow: Path) -> None:
    used = re.findall(r"uses: (\S+)(.*)", workflow.read_text(encoding="utf-8"))
    assert used
    for action, comment in used:
        assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", action)
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_secrets_reach_single_steps_only(workflow: Path) -> None:
    content = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    assert content["permissions"] == {"contents": "read"}
    around = [content.get("env", {}), *(job.get("env", {}) for job in content["jobs"].values())]
    assert "secrets." not in str(around)


@pytest.mark.skipif(sys.platform == "win32", reason="the bash that Windows finds first is that of another system")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_parses_and_stops_at_its_first_error(script: Path) -> None:
    subprocess.run(["bash", "-n", str(script)], check=True)
    assert "set -euo pipefail" in script.read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck_finds_nothing() -> None:
    done = subprocess.run(["shellcheck", *map(str, SCRIPTS)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
