from __future__ import annotations

from building import sbom


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
