"""What the frozen program runs: Loquat."""

from __future__ import annotations

import multiprocessing

if __name__ == "__main__":
    multiprocessing.freeze_support()  # a child of multiprocessing ends here, before anything else is imported
    from app.__main__ import start

    start()
