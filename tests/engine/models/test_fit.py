"""What is foretold of models on machines that are only spoken of."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import pytest

from engine.explain.profile import Bandwidth, MachineProfile
from engine.formats import choose_format
from engine.memory import Machine, plan
from engine.models.catalogue import catalogue, find
from engine.models.fit import CHUNK, COMFORTABLE, Fit, Here, disk_bytes, fit_config, fit_size
from engine.models.foretold import foretold_shape
from engine.models.rows import rows
from engine.models.speed import ASSUMED, decode_s, prefill_s

GIB = 1 << 30
INT4 = choose_format("cpu", "int4")[0]
MEASURED = MachineProfile(
    device="cpu",
    bandwidths=(Bandwidth(32 << 20, 40e9), Bandwidth(256 << 20, 20e9)),
    matrix_rate=200e9,
    step_s=0.006,
    step_bytes=100_000_000,
    layers=20,
    path="kernels",
    row_s=16e-9,
)


def machine_of(total: float, device: str = "cpu", profile: MachineProfile | None = MEASURED) -> Here:
    return Here(Machine(device, int(total * GIB), None, 350 << 20), device, profile)


def foretold(name: str, here: Here, weights: str = "") -> Fit:
    entry = find(name)
    assert entry is not None
    return fit_config(entry.config, "Q4_K_M", weights, here, entry.label)


def test_a_model_fits_has_a_smaller_context_or_does_not_fit() -> None:
    """Phi-3.5 mini: 2.8 GiB of weights, and 384 KiB for each token."""
    sizes = {total: foretold("phi-3.5-mini-instruct", machine_of(total)) for total in (32, 6, 4)}
    assert [fit.kind for fit in sizes.values()] == ["fits", "smaller", "no"]
    assert sizes[32].context >= COMFORTABLE
    assert 512 <= sizes[6].context < COMFORTABLE
    assert sizes[6].needs <= sizes[6].free
    assert sizes[4].context == 0
    assert sizes[4].needs > sizes[4].free
    assert sizes[4].reason.endswith("of memory are missing.")


def test_the_budget_says_the_same() -> None:
    """No arithmetic of its own: the plan of the loader, with the shape that is foretold."""
    entry, here = find("qwen3-4b"), machine_of(8)
    assert entry is not None
    footprint = foretold_shape(entry.config, "Q4_K_M").footprint("", INT4, CHUNK)
    planned = plan(footprint, here.machine, context=COMFORTABLE)
    fit = foretold("qwen3-4b", here)
    assert fit.context == planned.longest_context
    assert fit.free == planned.allowed
    assert fit.needs == planned.allowed - planned.left


def test_a_longer_context_than_the_models_own_is_not_asked_for() -> None:
    fit = foretold("smollm2-360m-instruct", machine_of(64))
    assert (fit.kind, fit.context) == ("fits", 8192)


def test_speed_comes_from_bytes_layers_and_what_is_attended_to() -> None:
    entry = find("qwen2.5-1.5b-instruct")
    assert entry is not None
    shape = foretold_shape(entry.config, "Q4_K_M")
    # 100 MB in 6 ms, of which 20 layers take 30 us each; two key/value heads of 128 in each of 28 layers.
    rate = 100e6 / (0.006 - 20 * 30e-6)
    expected = shape.step_bytes(INT4) / rate + 28 * 30e-6 + 4096 * 28 * 2 * 16e-9
    assert decode_s(MEASURED, shape, INT4, 4096) == pytest.approx(expected)
    assert decode_s(MEASURED, shape, INT4, 0) < decode_s(MEASURED, shape, INT4, 4096)
    slow = dataclasses.replace(MEASURED, bandwidths=(Bandwidth(256 << 20, 5e9),))
    assert decode_s(slow, shape, INT4, 0) == pytest.approx(shape.step_bytes(INT4) / 5e9 + 28 * 30e-6)
    assert prefill_s(MEASURED, shape, 1000) == pytest.approx(2 * shape.matrices * 1000 / 200e9, rel=0.1)


def test_one_models_profile_foretells_others() -> None:
    """Measured on a quiet machine: milliseconds of a step behind 512 and 8,000 tokens, of real shapes."""
    profile = MachineProfile(
        device="cpu",
        path="kernels",
        bandwidths=(Bandwidth(32 << 20, 144e9), Bandwidth(96 << 20, 73.5e9), Bandwidth(256 << 20, 61.5e9)),
        matrix_rate=438e9,
        step_s=2.96e-3,
        step_bytes=96_436_224,
        layers=30,
        row_s=15.5e-9,
    )
    measured = {
        "smollm2-135m-instruct": (3.61, 14.47),
        "smollm2-360m-instruct": (7.49, 25.93),
        "qwen2.5-0.5b-instruct": (9.10, 15.18),
        "qwen3-0.6b": (11.96, 40.78),
        "llama-3.2-1b-instruct": (19.18, 32.43),
    }
    for name, steps in measured.items():
        entry = find(name)
        assert entry is not None
        shape = foretold_shape(entry.config, "BF16")
        for context, taken in zip((512, 8000), steps, strict=True):
            assert 1000 * decode_s(profile, shape, INT4, context) == pytest.approx(taken, rel=0.2), (name, context)


def test_layers_with_a_window_read_no_more_than_that() -> None:
    entry = find("gemma-3-1b-it")
    assert entry is not None
    shape = foretold_shape(entry.config, "Q4_K_M")
    assert (shape.window, shape.windowed, shape.layers) == (512, 22, 26)
    assert shape.attended(512) == 26 * 512
    assert shape.attended(8192) == 4 * 8192 + 22 * 512


def test_a_head_of_its_own_leaves_the_embedding_unread() -> None:
    tied, untied = find("qwen2.5-3b-instruct"), find("qwen2.5-7b-instruct")
    assert tied is not None
    assert untied is not None
    shape = foretold_shape(tied.config, "Q4_K_M")
    assert shape.step_bytes(INT4) == shape.weights(INT4)
    shape = foretold_shape(untied.config, "Q4_K_M")
    assert shape.weights(INT4) - shape.step_bytes(INT4) == 152_064 * 3584 * 5 // 8


def test_without_a_measurement_the_speed_is_said_to_be_a_guess() -> None:
    guess, known = (foretold("qwen3-4b", machine_of(16, profile=profile)) for profile in (None, MEASURED))
    assert known.measured
    assert not known.reason
    assert not guess.measured
    assert "never measured" in guess.reason
    assert guess.tokens_per_s is not None
    assert known.tokens_per_s is not None
    assert guess.tokens_per_s < known.tokens_per_s
    assert foretold("qwen3-4b", machine_of(16, "cuda", None)).tokens_per_s is None
    assert ASSUMED.step_s


def test_what_a_gpu_has_no_room_for_in_16_bits_is_tried_in_4() -> None:
    roomy, tight, tiny = (foretold("qwen3-8b", machine_of(total, "cuda", None)) for total in (24, 8, 4))
    assert roomy.kind == "fits"
    assert tight.kind != "no"
    assert tight.needs < roomy.needs / 2
    assert tiny.kind == "no"


def test_weights_that_are_asked_for_change_what_it_takes() -> None:
    entry, here = find("qwen3-1.7b"), machine_of(16)
    assert entry is not None
    needs = [fit_config(entry.config, "BF16", weights, here).needs for weights in ("int4", "int8", "none")]
    assert needs == sorted(needs)
    assert needs[2] > 1.4 * needs[1]


def test_little_more_than_a_size_is_enough_for_an_estimate() -> None:
    here = machine_of(16)
    like = foretold("llama-3.1-8b-instruct", here)
    guess = fit_size(8_000_000_000, here, architecture="llama", context=131_072, stored="Q4_K_M")
    assert guess.kind == like.kind
    assert guess.needs == pytest.approx(like.needs, rel=0.03)
    assert guess.reason == "Estimated from its size alone."
    assert fit_size(0, here).kind == "unknown"
    assert fit_size(70_000_000_000, here).kind == "no"


def test_disk_counts_what_the_import_writes() -> None:
    assert disk_bytes(100, 60, "Q4_1") == 60 + 400 + 100
    assert disk_bytes(2_000_000_000, 1_000_000_000, "Q4_K_M") == 7_000_000_000
    assert disk_bytes(100, 200, "BF16") == 300


def test_a_row_has_all_that_a_window_says() -> None:
    found = rows(catalogue(), machine_of(16), ["qwen3-4b"])
    assert len(found) == len(catalogue())
    row = next(row for row in found if row.name == "qwen3-4b")
    assert row.installed
    assert [source.weights for source in row.sources] == ["int4", "int8", "none"]
    assert row.sources[0].file == "Qwen3-4B-Q4_K_M.gguf"
    assert row.sources[1].repo == "Qwen/Qwen3-4B"
    assert row.sources[0].nbytes < row.sources[1].nbytes < row.sources[1].disk
    assert json.loads(json.dumps(dataclasses.asdict(row)))["sources"][0]["fit"]["kind"] == "fits"
    assert sum(row.installed for row in found) == 1


def test_foretelling_needs_no_torch() -> None:
    code = (
        "import engine.models.fit, engine.models.rows, sys; print(*{'torch', 'numba', 'transformers'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
