from __future__ import annotations

import re

import pytest
from building.lock import LOCKS, BadLock, Pin, disagreements, read_lock
from building.project import read_project

HASH = "a" * 64


def test_every_pin_is_read_with_its_hashes_and_marker() -> None:
    text = (
        "# made by something\n"
        "Torch_CPU==2.13.0+cpu ; sys_platform == 'linux' \\\n"
        f"    --hash=sha256:{HASH} \\\n    --hash=sha256:{'b' * 64}\n"
        f"openai[aiohttp]==3.57.0 \\\n    --hash=sha256:{HASH}\n"
    )
    assert read_lock(text) == (
        Pin("torch-cpu", "2.13.0+cpu", (HASH, "b" * 64), "sys_platform == 'linux'"),
        Pin("openai", "3.57.0", (HASH,)),
    )


@pytest.mark.parametrize(
    "line",
    [
        "numpy==2.4.6",  # no hash
        f"numpy>=2 --hash=sha256:{HASH}",  # no pin
        f"numpy==2.4.6 --hash=sha256:{HASH[1:]}",  # a short hash
        "--extra-index-url file:///somewhere",
        "./wheels/torch.whl",
    ],
)
def test_what_is_no_pin_with_a_hash_is_refused(line: str) -> None:
    with pytest.raises(BadLock):
        read_lock(line)


@pytest.mark.parametrize("name", ["linux-x86_64-cp311", "windows-x86_64-cp311", "macos-arm64-cp311"])
def test_the_locks_hold_what_pyproject_pins(name: str) -> None:
    pins = read_lock((LOCKS / f"{name}.txt").read_text(encoding="utf-8"))
    told = disagreements(pins, read_project().dependencies)
    assert not told, f"{told}: run `python3 -m building.make_locks` in packaging/"
    assert {"pyinstaller", "pyinstaller-hooks-contrib"} <= {pin.name for pin in pins}


def test_no_lock_names_an_address_or_a_folder() -> None:
    for file in LOCKS.glob("*.txt"):
        assert not re.search(r"://|(?:^|\s)[./]+/|index-url|find-links", file.read_text(encoding="utf-8")), file.name


def test_torch_for_linux_is_built_without_cuda() -> None:
    pins = {pin.name: pin for pin in read_lock((LOCKS / "linux-x86_64-cp311.txt").read_text(encoding="utf-8"))}
    assert pins["torch"].version.endswith("+cpu")
    assert not [name for name in pins if name.startswith("nvidia")]


def test_a_pin_that_differs_is_told() -> None:
    pins = (Pin("numpy", "2.4.6", (HASH,)), Pin("torch", "2.13.0+cpu", (HASH,)))
    assert disagreements(pins, ["numpy==2.4.6", "torch==2.13.0"]) == []
    assert disagreements(pins, ["NumPy==2.4.7", "ijson==3.6.0"]) == [
        "numpy is 2.4.7 in pyproject.toml and 2.4.6 in the lock.",
        "ijson is 3.6.0 in pyproject.toml and absent in the lock.",
    ]
