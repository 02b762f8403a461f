"""`loquat models catalogue`: what it tells people and programs, and what it measures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.cli_models import run
from engine.cli_models.offers import fitted, table
from engine.explain.profile import MachineProfile, load_profile
from engine.memory import Machine
from engine.models.catalogue import catalogue
from engine.models.here import look_here
from engine.models.speed import known_profile
from engine.paths import Paths
from tests.tiny_models import make_tiny_model

Output = pytest.CaptureFixture[str]
GIB = 1 << 30


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.models.here.quick_profile", lambda folder, tell: None)


@pytest.mark.usefixtures("unmeasured")
def test_it_tells_programs_all_that_is_known(loquat_home: Paths, capsys: Output) -> None:
    make_tiny_model("llama", loquat_home.models / "qwen3-4b")
    assert run(["catalogue", "--json"], loquat_home) == 0
    models = {model["name"]: model for model in json.loads(capsys.readouterr().out)["models"]}
    assert len(models) == len(catalogue())
    known = models["qwen3-4b"]
    assert known["installed"] is True
    assert (known["licence"], known["licence_label"], known["accept"]) == ("apache-2.0", "Apache License 2.0", False)
    assert models["gemma-2-2b-it"]["accept"] is True
    first = known["sources"][0]
    assert (first["weights"], first["nbytes"]) == ("int4", 2_497_280_256)
    assert first["fit"]["kind"] in ("fits", "smaller", "no")
    assert first["fit"]["needs"] > first["nbytes"]
    assert first["fit"]["measured"] is False
    assert "never measured" in models["smollm2-135m-instruct"]["sources"][0]["fit"]["reason"]


@pytest.mark.usefixtures("unmeasured")
def test_it_tells_people_in_one_line_each(loquat_home: Paths, capsys: Output) -> None:
    assert run(["catalogue"], loquat_home) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(catalogue()) + 1
    small = next(line for line in lines if "smollm2-135m-instruct" in line)
    assert "fits, 8,192 tokens" in small
    assert "? " in small  # the rate is a guess
    assert "apache-2.0" in small
    assert "98 MB" in small[lines[0].index("DOWNLOAD") : lines[0].index("DISK")]
    assert "771 MB" in small[lines[0].index("DISK") : lines[0].index("ON THIS")]


@pytest.mark.usefixtures("measured")
def test_a_person_is_told_before_it_measures(loquat_home: Paths, capsys: Output) -> None:
    assert run(["catalogue"], loquat_home) == 0
    assert capsys.readouterr().err == "Measuring what this machine can do, once; that takes some seconds.\n"
    assert run(["catalogue", "--json"], loquat_home) == 0
    assert capsys.readouterr().err == ""


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.models.quick_profile.kept", lambda folder: True)
    monkeypatch.setattr("engine.models.quick_profile.measure_kernels", lambda: None)


def test_what_only_a_window_says_is_not_in_the_help(loquat_home: Paths, capsys: Output) -> None:
    for command in ("catalogue", "search", "show"):
        with pytest.raises(SystemExit):
            run([command, "--help"], loquat_home)
        assert "freed" not in capsys.readouterr().out


def test_memory_that_will_be_free_again_counts(
    loquat_home: Paths, unmeasured: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.models.here.measure_machine", lambda kind: Machine(kind, 16 * GIB, 4 * GIB, GIB))
    available = [look_here(loquat_home.cache, freed=freed).machine.available for freed in (0, GIB, 100 * GIB)]
    assert available == [4 * GIB, 5 * GIB, 16 * GIB]


def test_a_machine_that_was_never_measured_is_measured_once(
    loquat_home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.models.quick_profile import quick_profile

    monkeypatch.setattr("engine.models.quick_profile.kept", lambda folder: True)
    monkeypatch.setattr("engine.models.quick_profile._busy_s", lambda: 0.0)
    made = quick_profile(loquat_home.cache)
    assert made is not None
    assert made.step_s
    assert made.layers == 8
    assert made.step_bytes > 80_000_000
    (file,) = (loquat_home.cache / "profiles").iterdir()
    assert load_profile(file) == made
    monkeypatch.setattr("engine.models.here.quick_profile", pytest.fail)
    here = look_here(loquat_home.cache)
    assert here.profile == made


def test_what_was_measured_beside_busy_programs_is_not_kept(
    loquat_home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.models import quick_profile

    busy = iter((0.0, 1000.0))
    monkeypatch.setattr(quick_profile, "kept", lambda folder: True)
    monkeypatch.setattr(quick_profile, "_busy_s", lambda: next(busy))
    assert quick_profile.quick_profile(loquat_home.cache) is not None
    assert not (loquat_home.cache / "profiles").exists()


def test_kernels_are_not_compiled_for_it(loquat_home: Paths, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from engine.models import quick_profile

    monkeypatch.setenv("LOQUAT_KERNELS", str(tmp_path / "none"))
    monkeypatch.setattr(quick_profile, "measure_kernels", pytest.fail)
    assert quick_profile.quick_profile(loquat_home.cache) is None
    assert not (loquat_home.cache / "profiles").exists()


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, True),
        ({"processor": "another one"}, False),
        ({"device": "cuda"}, False),
        ({"path": "torch"}, False),
        ({"step_s": None}, False),
    ],
)
def test_a_profile_counts_where_it_is_of_this_machine(
    changes: dict[str, object], found: bool, tmp_path: Path, saved: Callable[[Path, MachineProfile], None]
) -> None:
    from dataclasses import replace

    from engine.formats import choose_format

    usual = MachineProfile(processor="this one", device="cpu", path="kernels", step_s=0.01, step_bytes=1)
    saved(tmp_path, replace(usual, **changes))
    assert (known_profile(tmp_path, choose_format("cpu", "int4")[0], "this one") is not None) == found


@pytest.fixture
def saved() -> Callable[[Path, MachineProfile], None]:
    from engine.explain.profile import FOLDER, save_profile

    def save(folder: Path, profile: MachineProfile) -> None:
        save_profile(profile, folder / FOLDER / "one.json")

    return save


def test_a_table_leaves_out_what_is_needed_least_where_the_terminal_is_narrow() -> None:
    rows = [("NAME", "DISK", "GOOD AT"), ("small", "98 MB", "everything there is to talk about")]
    assert fitted(rows, 200, ("GOOD AT", "DISK")) == rows
    assert table(fitted(rows, 20, ("GOOD AT", "DISK"))) == "NAME   DISK\nsmall  98 MB"
    assert table(fitted(rows, 8, ("GOOD AT", "DISK"))) == "NAME\nsmall"
