"""The kernels on processors other than this one, compiled and run in a process of their own."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from llvmlite import binding

from engine.kernels.target import TARGET
from tests.engine.kernels import on_target

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="the targets below are subsets of x86-64"
)


def _features(*without: str) -> str:
    """This processor's instructions but some, as Numba takes them."""

    def keep(name: str) -> bool:
        return not any(name.startswith(prefix) for prefix in without)

    found = binding.get_host_cpu_features()
    return ",".join(("+" if on and keep(name) else "-") + name for name, on in found.items())


def _run(cpu: str, features: str) -> dict[str, object]:
    """Numba keeps code for each processor apart, so the folder of the other tests serves here too."""
    environment = {**os.environ, "NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": features}
    command = [sys.executable, "-m", on_target.__name__]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_avx2_gives_what_this_processor_gives():
    """Without AVX-512 and VNNI: other instructions, the same integers, the same order of floats."""
    narrow = _run("haswell", _features("avx512", "avxvnni", "avx10", "evex", "vaes", "vpclmul", "gfni"))
    assert narrow.pop("target") == {"vnni": False, "lanes": 8}
    here = on_target.results()
    if here.pop("target") != {"vnni": TARGET.vnni, "lanes": TARGET.lanes}:
        pytest.fail("the test looks at another target than the kernels")
    assert narrow.keys() == here.keys()
    for name, values in here.items():
        assert narrow[name] == pytest.approx(values, rel=1e-5, abs=1e-5), name


@pytest.mark.slow
def test_a_processor_without_avx2_is_told_so():
    features = _features("avx", "fma", "f16c", "evex", "vaes", "vpclmul", "gfni", "xop")
    code = "from engine.kernels.warm import available; print(available())"
    environment = {**os.environ, "NUMBA_CPU_NAME": "x86-64-v2", "NUMBA_CPU_FEATURES": features}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=100, check=True
    )
    assert done.stdout.strip() == "(False, 'this processor lacks AVX2, FMA, F16C')"
