"""llama.cpp as a path under test: `PYTHON llama_cpp_subject.py FILE.gguf THREADS CONTEXT`, a JSON command a line.

Runs in whatever environment has llama-cpp-python, so it imports nothing of Loquat. The commands are those of
`engine.bench.subject`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def peak_bytes() -> int:
    """The most RAM that this process has held; 0 where /proc does not tell."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.is_file() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


class LlamaCpp:
    def __init__(self, file: str, threads: int, context: int) -> None:
        import llama_cpp
        import numpy

        began = time.perf_counter()
        self._read_logits, self._as_array = llama_cpp.llama_get_logits, numpy.ctypeslib.as_array
        self._model = llama_cpp.Llama(
            file, n_ctx=context, n_batch=512, n_threads=threads, n_threads_batch=threads, verbose=False
        )
        self._load_s = time.perf_counter() - began
        self._file, self._threads = Path(file), threads
        self._description = f"llama.cpp (llama-cpp-python {llama_cpp.__version__}) on {self._file.name}"

    def about(self) -> dict[str, object]:
        return {
            "description": self._description,
            "dtype": "as in the file",
            "threads": self._threads,
            "load_s": self._load_s,
            "weight_bytes": self._file.stat().st_size,
            "peak_bytes": peak_bytes(),
            "vocabulary": self._model.n_vocab(),
        }

    def prefill(self, ids: list[int]) -> dict[str, object]:
        self._model.reset()
        began = time.perf_counter()
        self._next(ids)
        return {"seconds": time.perf_counter() - began, "passes": -(-len(ids) // 512)}

    def decode(self, ids: list[int], count: int) -> dict[str, object]:
        self._model.reset()
        chosen, steps = self._next(ids), []
        tokens = []
        for _ in range(count):
            tokens.append(chosen)
            began = time.perf_counter()
            chosen = self._next([chosen])
            steps.append(time.perf_counter() - began)
        return {"steps": steps, "tokens": tokens}

    def _next(self, ids: list[int]) -> int:
        """The likeliest token after `ids`; reading the logits waits until they are there."""
        self._model.eval(ids)
        logits = self._as_array(self._read_logits(self._model.ctx), shape=(self._model.n_vocab(),))
        return int(logits.argmax())


def main() -> None:
    try:
        model = LlamaCpp(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    except ImportError:
        print(json.dumps({"error": f"llama-cpp-python is not installed for {sys.executable}."}), flush=True)
        return
    except ValueError as error:
        print(json.dumps({"error": f"{error}."}), flush=True)
        return
    print(json.dumps(model.about()), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        action = getattr(model, command.pop("do"))
        print(json.dumps(action(**command)), flush=True)


if __name__ == "__main__":
    main()
