"""Sixteen 32-bit numbers as one value inside Numba functions.

Numba vectorises loops when LLVM recognises them; here the vectors are written out, so what runs is what is read.
A vector is 16 wide on every processor; LLVM splits it where registers are narrower. Addresses are int64: the kernels
walk packed bytes, for which array objects would only cost. Nothing here checks bounds.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

LANES = 16

F32 = ir.FloatType()
F16 = ir.HalfType()
I1 = ir.IntType(1)
I8 = ir.IntType(8)
I16 = ir.IntType(16)
I32 = ir.IntType(32)
I64 = ir.IntType(64)
F32X = ir.VectorType(F32, LANES)
I32X = ir.VectorType(I32, LANES)
F16X = ir.VectorType(F16, LANES)
I8X = ir.VectorType(I8, LANES)


class FloatVector(types.Type):
    """Numba's type of 16 float32."""


class IntVector(types.Type):
    """Numba's type of 16 int32."""


@register_model(FloatVector)
class FloatVectorModel(models.PrimitiveModel):
    """A float vector is one LLVM value."""

    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, F32X)


@register_model(IntVector)
class IntVectorModel(models.PrimitiveModel):
    """An integer vector is one LLVM value."""

    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, I32X)


f32x = FloatVector("f32x16")
i32x = IntVector("i32x16")
Emit = Callable[..., ir.Value]


# Numba reads how many arguments an intrinsic takes from its typing function's own signature.
_TYPERS: tuple[Callable[[Any], Callable[..., Any]], ...] = (
    lambda answer: lambda context: answer,
    lambda answer: lambda context, a: answer,
    lambda answer: lambda context, a, b: answer,
    lambda answer: lambda context, a, b, c: answer,
    lambda answer: lambda context, a, b, c, d: answer,
    lambda answer: lambda context, a, b, c, d, e: answer,
    lambda answer: lambda context, a, b, c, d, e, f: answer,
    lambda answer: lambda context, a, b, c, d, e, f, g: answer,
    lambda answer: lambda context, a, b, c, d, e, f, g, h: answer,
)


def operation(result: types.Type, *params: types.Type) -> Callable[[Emit], Callable[..., Any]]:
    """Make an intrinsic out of a function that emits LLVM instructions.

    Args:
        result: Numba type of the result.
        params: Numba types of the arguments; others are converted to them.
    """

    def wrap(emit: Emit) -> Callable[..., Any]:
        def codegen(_context: Any, builder: ir.IRBuilder, _signature: Any, args: tuple[ir.Value, ...]) -> ir.Value:
            return emit(builder, *args)

        typer = _TYPERS[len(params)]((result(*params), codegen))
        typer.__name__ = emit.__name__
        typer.__doc__ = emit.__doc__
        return intrinsic(typer)

    return wrap


def pointer(builder: ir.IRBuilder, address: ir.Value, kind: ir.Type) -> ir.Value:
    """The integer `address` as a pointer to `kind`."""
    return builder.inttoptr(address, kind.as_pointer())


def load(builder: ir.IRBuilder, address: ir.Value, kind: ir.Type, align: int = 1) -> ir.Value:
    """One value of `kind` from memory, aligned or not."""
    return builder.load(pointer(builder, address, kind), align=align)


def splat(builder: ir.IRBuilder, value: ir.Value, lanes: int = LANES) -> ir.Value:
    """A vector whose lanes all hold `value`."""
    one = builder.insert_element(ir.VectorType(value.type, lanes)(ir.Undefined), value, I32(0))
    return builder.shuffle_vector(one, one.type(ir.Undefined), ir.VectorType(I32, lanes)(None))


def call(builder: ir.IRBuilder, name: str, result: ir.Type, *args: ir.Value) -> ir.Value:
    """A call of the LLVM intrinsic `name`."""
    kind = ir.FunctionType(result, [arg.type for arg in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)


@operation(types.voidptr, types.int64)
def as_pointer(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """An address as what numba.carray takes."""
    return pointer(builder, address, I8)


@operation(f32x, types.int64)
def load_f32(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """16 float32 from memory."""
    return load(builder, address, F32X)


@operation(f32x, types.int64)
def load_f16(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """16 float16 from memory, widened."""
    return builder.fpext(load(builder, address, F16X), F32X)


@operation(types.void, types.int64, f32x)
def store_f32(builder: ir.IRBuilder, address: ir.Value, value: ir.Value) -> ir.Value:
    """16 float32 to memory."""
    builder.store(value, pointer(builder, address, F32X), align=1)
    return ir.Constant(ir.IntType(8).as_pointer(), None)


@operation(types.void, types.int64, f32x)
def store_f16(builder: ir.IRBuilder, address: ir.Value, value: ir.Value) -> ir.Value:
    """16 float32, rounded to float16, to memory."""
    builder.store(builder.fptrunc(value, F16X), pointer(builder, address, F16X), align=1)
    return ir.Constant(ir.IntType(8).as_pointer(), None)


@operation(types.void, types.int64, i32x)
def store_i8(builder: ir.IRBuilder, address: ir.Value, value: ir.Value) -> ir.Value:
    """The low bytes of 16 integers to memory."""
    builder.store(builder.trunc(value, I8X), pointer(builder, address, I8X), align=1)
    return ir.Constant(ir.IntType(8).as_pointer(), None)


@operation(types.float32, types.int64)
def get_f32(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """One float32 from memory."""
    return load(builder, address, F32)


@operation(types.float32, types.int64)
def get_f16(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """One float16 from memory, widened."""
    return builder.fpext(load(builder, address, F16), F32)


@operation(types.int64, types.int64)
def get_i64(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """One int64 from memory."""
    return load(builder, address, I64)


@operation(types.int32, types.int64)
def get_u8(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """One byte from memory, without sign."""
    return builder.zext(load(builder, address, I8), I32)


@operation(types.int32, types.int64)
def get_i8(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """One byte from memory, with sign."""
    return builder.sext(load(builder, address, I8), I32)


@operation(types.void, types.int64, types.float32)
def put_f32(builder: ir.IRBuilder, address: ir.Value, value: ir.Value) -> ir.Value:
    """One float32 to memory."""
    builder.store(value, pointer(builder, address, F32), align=1)
    return ir.Constant(ir.IntType(8).as_pointer(), None)


@operation(types.void, types.int64, types.float32)
def put_f16(builder: ir.IRBuilder, address: ir.Value, value: ir.Value) -> ir.Value:
    """One float32, rounded to float16, to memory."""
    builder.store(builder.fptrunc(value, F16), pointer(builder, address, F16), align=1)
    return ir.Constant(ir.IntType(8).as_pointer(), None)


@operation(types.void, types.int64, types.int32)
def put_i32(builder: ir.IRBuilder, address: ir.Value, value: ir.Value) -> ir.Value:
    """One int32 to memory."""
    builder.store(value, pointer(builder, address, I32), align=1)
    return ir.Constant(ir.IntType(8).as_pointer(), None)


@operation(f32x, types.float32)
def fill(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """16 times the same float32."""
    return splat(builder, value)


@operation(f32x, f32x, f32x, f32x)
def fma(builder: ir.IRBuilder, a: ir.Value, b: ir.Value, c: ir.Value) -> ir.Value:
    """`a * b + c`, rounded once."""
    return call(builder, "llvm.fma.v16f32", F32X, a, b, c)


@operation(f32x, f32x, f32x)
def vmax(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
    """The larger of each pair; `b` where either is no number, as in x86's own instruction."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


@operation(f32x, f32x, f32x)
def vmin(builder: ir.IRBuilder, a: ir.Value, b: ir.Value) -> ir.Value:
    """The smaller of each pair; `b` where either is no number."""
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


@operation(f32x, f32x)
def vabs(builder: ir.IRBuilder, a: ir.Value) -> ir.Value:
    """Absolute values."""
    return call(builder, "llvm.fabs.v16f32", F32X, a)


@operation(f32x, f32x)
def vround(builder: ir.IRBuilder, a: ir.Value) -> ir.Value:
    """Nearest whole numbers, halves to the even one."""
    return call(builder, "llvm.roundeven.v16f32", F32X, a)


@operation(i32x, f32x)
def to_int(builder: ir.IRBuilder, a: ir.Value) -> ir.Value:
    """Whole float32 numbers as integers."""
    return builder.fptosi(a, I32X)


@operation(f32x, i32x)
def power_of_two(builder: ir.IRBuilder, a: ir.Value) -> ir.Value:
    """2**a for -126 <= a <= 127, by writing the exponent."""
    biased = builder.add(a, splat(builder, I32(127)))
    return builder.bitcast(builder.shl(biased, splat(builder, I32(23))), F32X)


@operation(types.float32, f32x)
def total(builder: ir.IRBuilder, a: ir.Value) -> ir.Value:
    """Sum of the lanes, always added in the same pairs."""
    width = LANES
    while width > 1:
        width //= 2
        low = builder.shuffle_vector(a, a, ir.VectorType(I32, width)([I32(i) for i in range(width)]))
        high = builder.shuffle_vector(a, a, ir.VectorType(I32, width)([I32(i + width) for i in range(width)]))
        a = builder.fadd(low, high)
    return builder.extract_element(a, I32(0))


@operation(types.float32, f32x)
def largest(builder: ir.IRBuilder, a: ir.Value) -> ir.Value:
    """Largest lane; the lanes must be numbers."""
    return call(builder, "llvm.vector.reduce.fmax.v16f32", F32, a)


@operation(types.int32, i32x)
def int_total(builder: ir.IRBuilder, a: ir.Value) -> ir.Value:
    """Sum of the lanes."""
    return call(builder, "llvm.vector.reduce.add.v16i32", I32, a)


@operation(f32x, f32x, types.int64, types.int64, types.float32)
def keep_between(builder: ir.IRBuilder, a: ir.Value, low: ir.Value, high: ir.Value, other: ir.Value) -> ir.Value:
    """Lanes `low <= lane < high` of `a`, `other` in the rest."""
    lanes = I32X([I32(i) for i in range(LANES)])
    above = builder.icmp_signed(">=", lanes, splat(builder, builder.trunc(low, I32)))
    below = builder.icmp_signed("<", lanes, splat(builder, builder.trunc(high, I32)))
    return builder.select(builder.and_(above, below), a, splat(builder, other))


def _operator(python: Callable[..., Any], instruction: str) -> None:
    """Let a Python operator between two float vectors emit one instruction."""

    @infer_global(python)
    class Template(ConcreteTemplate):
        """How Numba types the operator."""

        cases: ClassVar = [signature(f32x, f32x, f32x)]

    @lower_builtin(python, f32x, f32x)
    def lower(_context: Any, builder: ir.IRBuilder, _sig: Any, args: tuple[ir.Value, ...]) -> ir.Value:
        return getattr(builder, instruction)(*args)


_operator(operator.add, "fadd")
_operator(operator.sub, "fsub")
_operator(operator.mul, "fmul")
_operator(operator.truediv, "fdiv")
