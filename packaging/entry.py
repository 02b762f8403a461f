"""What the frozen program runs: Loquat, or one of the engine's modules that measure in a process of their own."""

from __future__ import annotations

import multiprocessing
import runpy
import sys


def main() -> int:
    """Run the program; returns its exit code."""
    if sys.argv[1:2] == ["-m"] and sys.argv[2].startswith("engine.bench."):
        from engine.cuda_pack import take  # noqa: PLC0415 - nothing is imported before a child of multiprocessing left
        from engine.paths import default_paths  # noqa: PLC0415

        # `python -m engine.bench...`, as `loquat bench` starts its children: the program is their Python.
        del sys.argv[1]
        name = sys.argv.pop(1)
        take(default_paths())
        runpy.run_module(name, run_name="__main__", alter_sys=True)
        return 0
    from app.__main__ import start  # noqa: PLC0415 - nothing is imported before a child of multiprocessing left

    start()


if __name__ == "__main__":
    multiprocessing.freeze_support()
    sys.exit(main())
