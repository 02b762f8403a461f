"""Functions on vectors of 16 floats, the same bits on every thread and for every number of tokens."""

from __future__ import annotations

from typing import Any

from engine.kernels.jit import kernel
from engine.kernels.vector import fill, fma, power_of_two, to_int, vmax, vmin, vround


@kernel
def vexp(x: Any) -> Any:
    """e**x within 2 units in the last place, for x cut to -87 .. 88 (Cephes expf: Cody-Waite reduction, degree 5)."""
    x = vmax(vmin(x, fill(88.0)), fill(-87.0))
    n = vround(x * fill(1.44269504088896341))
    r = fma(n, fill(-0.693359375), x)
    r = fma(n, fill(2.12194440e-4), r)
    p = fma(fill(1.9875691500e-4), r, fill(1.3981999507e-3))
    p = fma(p, r, fill(8.3334519073e-3))
    p = fma(p, r, fill(4.1665795894e-2))
    p = fma(p, r, fill(1.6666665459e-1))
    p = fma(p, r, fill(5.0000001201e-1))
    return fma(p, r * r, r + fill(1.0)) * power_of_two(to_int(n))


@kernel
def vtanh(x: Any) -> Any:
    """Hyperbolic tangent."""
    return fill(1.0) - fill(2.0) / (fill(1.0) + vexp(x + x))


@kernel
def silu(x: Any) -> Any:
    """SiLU: x * sigmoid(x)."""
    return x / (fill(1.0) + vexp(fill(0.0) - x))


@kernel
def gelu_tanh(x: Any) -> Any:
    """GELU in its tanh form: 0.5 x (1 + tanh z) = x * sigmoid(2 z)."""
    z = fill(1.5957691216057308) * x * fma(x * x, fill(0.044715), fill(1.0))
    return x / (fill(1.0) + vexp(fill(0.0) - z))
