"""`python -m tests.cuda [arguments of pytest]`: every test that needs a CUDA device, in under ten minutes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

NO_DEVICE = 2
PER_TEST_S = 120


def main(arguments: list[str]) -> int:
    if not torch.cuda.is_available():
        print("This machine has no CUDA device that torch can use.", file=sys.stderr)
        return NO_DEVICE
    print(f"{torch.cuda.device_count()} × {torch.cuda.get_device_name(0)}, torch {torch.__version__}")
    tests = Path(__file__).parents[1]
    options = ["-m", "cuda", "--durations=10", f"--timeout={PER_TEST_S}", "-p", "no:cacheprovider"]
    return int(pytest.main([*options, str(tests), *arguments]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
