from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from building import sbom
from building.job import Job
from building.project import Project


def part(name: str) -> dict[str, str]:
    return {"bom-ref": f"{name}==1", "name": name, "version": "1"}


def test_what_only_builds_is_left_out_and_more_comes_in() -> None:
    listed = {
        "components": [part("torch"), part("PyInstaller_hooks.contrib"), part("pip")],
        "metadata": {"component": {"bom-ref": "root"}},
        "dependencies": [{"ref": "root", "dependsOn": ["pip==1", "torch==1"]}, {"ref": "pip==1"}, {"ref": "torch==1"}],
        "bomFormat": "CycloneDX",
    }
    done = sbom.completed(listed, [part("Qt")])
    assert [of["name"] for of in done["components"]] == ["Qt", "torch"]
    assert done["dependencies"] == [{"ref": "root", "dependsOn": ["torch==1"]}, {"ref": "torch==1", "dependsOn": []}]
    assert done["bomFormat"] == "CycloneDX"


@pytest.mark.skipif(sys.platform == "win32", reason="a script stands for the tool, as POSIX starts one")
def test_the_list_is_made_in_an_environment_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "cyclonedx-py"
    tool.write_text(
        f"#!{sys.executable}\nimport json, os; print(json.dumps({{'components': [], 'env': dict(os.environ)}}))"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("SYSTEMROOT", "C:\\Windows")
    monkeypatch.setenv("PYTHONPATH", "/of/the/person")
    project = Project("loquat-chat", "1.2.3", "A chat", "Apache-2.0", ("PySide6-Essentials==6.12.0",))
    job = Job(tmp_path, project, 1_700_000_000, tmp_path, tmp_path / "python")
    sbom.write(tmp_path / "list.json", job, [], tmp_path / "python")
    listed = json.loads((tmp_path / "list.json").read_text())
    given = {name: value for name, value in listed["env"].items() if name != "LC_CTYPE"}  # Python's own
    assert given == {"SOURCE_DATE_EPOCH": "1700000000", "SYSTEMROOT": "C:\\Windows"}, "Windows starts nothing without"
    assert [part["name"] for part in listed["components"]] == ["CPython", "Qt"]
