"""How fast one thread multiplies packed weights that lie in its cache: the kernels' own limit, memory left out.

    python -m tests.bench.kernel_micro [--rows 1536] [--columns 576]

Times are this thread's processor time, the best of many short runs, so other programs on the machine change little.
`loquat bench decode` has what memory makes of it.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from numba import njit

from engine.kernels.activations import activation_bytes
from engine.kernels.formats import BLOCK, Kind, QuantizedMatrix, pack
from engine.kernels.matmul import batch_product, batch_size
from engine.kernels.plan import MATRIX
from engine.kernels.quantize import quantize
from engine.kernels.rows import quantize_row
from engine.kernels.target import TARGET

TOKENS = (1, 2, 4, 8, 32)
RUNS = 20
SHORTEST_S = 2e-3


@njit(nogil=True)
def fill_activations(source: int, columns: int, activations: int, tokens: int) -> None:
    for token in range(tokens):
        quantize_row(source + 4 * columns * token, columns, activations, token)


@njit(nogil=True)
def multiply(matrices: np.ndarray, tokens: int, x: int, out: int) -> None:
    matrix = matrices[0]
    stride = matrix.tiles * 64
    for tile in range(matrix.tiles):
        done = 0
        while done < tokens:
            batch = batch_size(done, tokens - done)
            batch_product(matrix, tile, 1, done, batch, x, out + 64 * tile + stride * done, stride)
            done += batch


def matrices_of(rows: int, columns: int) -> list[QuantizedMatrix]:
    """The same random weights in every format."""
    weights = np.random.default_rng(0).normal(0, 0.05, (rows, columns)).astype(np.float32)
    words = np.random.default_rng(1).integers(0, 2**32, (rows, columns // BLOCK, 4), dtype=np.uint32)
    scales = np.full((rows, columns // BLOCK), 0.01, np.float16)
    return [quantize(Kind.Q4A, weights), pack(Kind.Q4S, rows, columns, words, scales), quantize(Kind.Q8, weights)]


def best_s(matrix: QuantizedMatrix, tokens: int) -> float:
    """Processor seconds of one product; its result is checked against floats."""
    tiles, blocks, _ = matrix.data.shape
    address = matrix.data.ctypes.data
    record = np.array([(address, int(matrix.kind), tiles, blocks, matrix.data[0].nbytes, 0)], MATRIX)
    x = np.random.default_rng(2).normal(0, 1, (tokens, matrix.columns)).astype(np.float32)
    packed = np.zeros(activation_bytes(tokens, matrix.columns), np.uint8)
    out = np.zeros((tokens, matrix.padded_rows), np.float32)
    fill_activations(x.ctypes.data, matrix.columns, packed.ctypes.data, tokens)
    arguments = (record, tokens, packed.ctypes.data, out.ctypes.data)
    multiply(*arguments)
    expected = x @ matrix.dequantize().T
    np.testing.assert_allclose(out[:, : matrix.rows], expected, atol=1e-3 * float(np.abs(expected).max()))
    return min(_timed(arguments) for _ in range(RUNS))


def _timed(arguments: tuple[object, ...]) -> float:
    start, count = time.thread_time(), 0
    while (spent := time.thread_time() - start) < SHORTEST_S:
        multiply(*arguments)
        count += 1
    return spent / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1536, help="a multiple of 16")
    parser.add_argument("--columns", type=int, default=576, help="a multiple of 32")
    options = parser.parse_args()
    print(f"{options.rows} x {options.columns}, {TARGET.lanes} lanes, {'with' if TARGET.vnni else 'without'} VNNI")
    for matrix in matrices_of(options.rows, options.columns):
        for tokens in TOKENS:
            seconds = best_s(matrix, tokens)
            rate, products = matrix.nbytes / seconds / 1e9, matrix.rows * matrix.columns * tokens / seconds / 1e9
            what = f"{matrix.kind.name:4} {tokens:3} tokens {seconds * 1e6:8.1f} us"
            print(f"{what} {rate:6.1f} GB/s {products:6.1f} GMAC/s")


if __name__ == "__main__":
    main()
