"""The inner loop for ARM, compiled but not run: there is no ARM machine here."""

from __future__ import annotations

import pytest
from llvmlite import binding, ir

from engine.kernels.formats import Kind
from engine.kernels.target import Target
from engine.kernels.tile import Tile
from engine.kernels.vector import I64

ARM = Target(x86=False, vnni=False, lanes=4, missing=())
TRIPLE = "aarch64-unknown-linux-gnu"


def _assembly(kind: Kind, tokens: int, features: str) -> str:
    module = ir.Module()
    module.triple = TRIPLE
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [I64] * 5), "tile")
    builder = ir.IRBuilder(function.append_basic_block())
    Tile(ARM, kind, tokens).emit(builder, *function.args)
    builder.ret_void()
    parsed = binding.parse_assembly(str(module))
    parsed.verify()
    target = binding.Target.from_triple(TRIPLE).create_target_machine(features=features, opt=3)
    return target.emit_assembly(parsed)


@pytest.fixture(scope="module", autouse=True)
def _arm_compiler():
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    try:
        binding.Target.from_triple(TRIPLE)
    except RuntimeError:
        pytest.skip("this llvmlite has no compiler for ARM")


@pytest.mark.parametrize("kind", Kind)
def test_four_products_take_one_instruction(kind):
    text = _assembly(kind, 4, "+neon,+dotprod")
    assert text.count("sdot") >= 4 * 2 * 8, "two halves of four tokens, eight columns of four each"
    assert text.count("fcvtl") >= 1, "float16 is widened by the processor"


@pytest.mark.parametrize("kind", Kind)
def test_an_old_processor_is_served_too(kind):
    text = _assembly(kind, 1, "+neon")
    assert "sdot" not in text
    assert "smlal" in text or "smull" in text
