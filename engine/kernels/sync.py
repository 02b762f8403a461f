"""How the threads of one step wait for each other: counters in memory, no lock and no operating system call.

A decode step has hundreds of phases of a few microseconds; a fork and join for each would cost more than the phases.
So the threads are started once a step and meet at barriers: each adds one to a counter and spins until all have.
Counters only ever grow within a step, so nothing has to be reset between phases.
"""

from __future__ import annotations

import sys
from typing import Final

from llvmlite import ir
from numba import types

from engine.kernels.jit import kernel
from engine.kernels.target import TARGET
from engine.kernels.vector import I32, I64, call, operation, pointer

LINE: Final = 64  # bytes between counters, so that two never share a cache line
SPINS: Final = 50  # about 2 microseconds; more makes every wait long when other programs want the cores
_YIELD: Final = "SwitchToThread" if sys.platform == "win32" else "sched_yield"


@operation(types.int64, types.int64, types.int64)
def fetch_add(builder: ir.IRBuilder, address: ir.Value, value: ir.Value) -> ir.Value:
    """Add to a counter that other threads also add to; the value before."""
    return builder.atomic_rmw("add", pointer(builder, address, I64), value, "acq_rel")


@operation(types.int64, types.int64)
def read_counter(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """A counter's value; what was written before it was raised is visible afterwards."""
    return builder.load_atomic(pointer(builder, address, I64), "acquire", 8)


@operation(types.void)
def relax(builder: ir.IRBuilder) -> ir.Value:
    """Tell the core that it spins."""
    if TARGET.x86:
        call(builder, "llvm.x86.sse2.pause", ir.VoidType())
    else:
        call(builder, "llvm.aarch64.hint", ir.VoidType(), I32(1))
    return ir.Constant(I32.as_pointer(), None)


@operation(types.void)
def yield_now(builder: ir.IRBuilder) -> ir.Value:
    """Let the operating system run another thread."""
    call(builder, _YIELD, I32)
    return ir.Constant(I32.as_pointer(), None)


@kernel
def barrier(counter: int, target: int) -> None:
    """Wait until `target` arrivals, this one included, have been counted since the step began."""
    arrived = fetch_add(counter, 1) + 1
    spins = 0
    while arrived < target:
        relax()
        spins += 1
        # Where a core is missing, spinning on would keep the thread that is waited for from running.
        if spins % SPINS == 0:
            yield_now()
        arrived = read_counter(counter)
