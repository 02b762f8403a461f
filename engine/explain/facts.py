"""What a verdict and a memory plan have to know about a loaded model, read off its runner once."""

from __future__ import annotations

import dataclasses
from typing import Any

from engine.decoder.runner import DecoderRunner
from engine.explain.trace import MemoryState, ModelFacts
from engine.explain.version import program_version
from engine.loader import LoadedModel


def model_facts(model: LoadedModel) -> ModelFacts:
    """Everything of a model that does not change from turn to turn."""
    info, runner = model.info, model.runner
    facts = ModelFacts(
        name=info.name,
        label=info.label,
        architecture=info.architecture,
        version=program_version(),
        device=info.device,
        dtype=info.dtype,
        runner=info.runner,
        path="transformers",
        threads=info.threads,
        parameters=info.parameters,
        weight_bytes=runner.weight_bytes,
        weight_bytes_per_token=runner.weight_bytes,
        linear_parameters=info.parameters,
        kv_bytes_per_token=runner.kv_bytes_per_token,
        context_limit=runner.context_limit,
        load_s=info.load_s,
    )
    return dataclasses.replace(facts, **_by_runner(runner))


def memory_state(model: LoadedModel, this: int) -> MemoryState:
    """How memory stands now; `this` is what the conversation's cache holds, in bytes."""
    base = model.info.memory or MemoryState(weights=model.runner.weight_bytes, context_limit=model.runner.context_limit)
    return dataclasses.replace(base, kv_this=this, kv_others=max(0, model.store.nbytes - this))


def _by_runner(runner: Any) -> dict[str, Any]:  # noqa: ANN401 - runners of three kinds
    """What only this kind of runner can tell."""
    if isinstance(runner, DecoderRunner):
        return _of_decoder(runner)
    # Neither transformers nor Numba may be imported to ask for a class: both take seconds.
    if hasattr(runner, "kv_shape"):
        layers, kv_heads, head_dim = runner.kv_shape
        return {"kv_dtype": runner.kv_dtype, "layers": layers, "kv_heads": kv_heads, "head_dim": head_dim}
    if hasattr(runner, "shape") and hasattr(runner, "weights"):
        return _of_kernels(runner)
    return {}


def _of_decoder(runner: DecoderRunner) -> dict[str, Any]:
    weights, layout = runner.weights, runner.layout
    linears = [linear for of in weights.layers for linear in (of.qkv, of.output, of.gate_up, of.down)]
    return {
        "path": "graph" if runner.replays else "torch",
        "kv_dtype": str(layout.dtype).removeprefix("torch."),
        "weight_bytes_per_token": weights.head.nbytes + sum(linear.nbytes for linear in linears),
        "linear_parameters": sum(linear.in_features * linear.out_features for linear in linears),
        "layers": layout.layers,
        "kv_heads": layout.kv_heads,
        "head_dim": layout.head_dim,
    }


def _of_kernels(runner: Any) -> dict[str, Any]:  # noqa: ANN401 - a KernelRunner
    linears = [linear for layer in runner.weights.layers for linear in layer.linears]
    return {
        "path": "kernels",
        "kv_dtype": "float16",
        "weight_bytes_per_token": runner.weights.bytes_per_token,
        "linear_parameters": sum(linear.in_features * linear.out_features for linear in linears),
        "layers": runner.shape.layers,
        "kv_heads": runner.shape.kv_heads,
        "head_dim": runner.shape.head_dim,
    }
