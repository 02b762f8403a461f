"""The decode step as a CUDA graph: one launch for a token in place of hundreds, where capture succeeds and is right."""

from __future__ import annotations

import logging
from typing import Final

import torch
from torch import Tensor

from engine.decoder.cache import KVCache
from engine.decoder.layers import Decoder
from engine.decoder.rows import CacheLayout
from engine.decoder.static_step import Decoding, EagerDecoding, Record, RecordedDecoding, Step

_log = logging.getLogger(__name__)

# Largest difference from the eager step, as a share of the largest logit: attention is summed in another order over
# all the room there is, and 16 bits round every layer's sum.
TOLERANCE: Final = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}
_WARM_UPS: Final = 3  # passes before capture, as torch asks for: libraries allocate and choose kernels in them
_PROMPT: Final = 8  # tokens
_CHECKED: Final = 3  # steps after it


def choose_decoding(decoder: Decoder, layout: CacheLayout) -> Decoding:
    """How tokens are decoded on this device: a CUDA graph that was found right, else eagerly with the reason."""
    if layout.device.type != "cuda" or layout.context_limit < _PROMPT + _CHECKED:
        return EagerDecoding(decoder)
    return proven(decoder, layout, capture)


def capture(step: Step) -> Step:
    """A step of static shapes on the current CUDA device, captured; the result replays it into the same tensor.

    Raises:
        RuntimeError: Something in it cannot be captured, or memory ran out.
    """
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(_WARM_UPS):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):  # another thread may be saving caches
        logits = step()

    def replay() -> Tensor:
        graph.replay()
        return logits

    return replay


def proven(decoder: Decoder, layout: CacheLayout, record: Record) -> Decoding:
    """Recorded decoding if it gives the eager step's logits after a short prompt, else eager decoding that says why."""
    trial = RecordedDecoding(decoder, record, words="", patience=0)
    difference = _difference(decoder, layout, trial)
    if trial.broken:
        return EagerDecoding(decoder, "without a CUDA graph, which could not be captured")
    allowed = TOLERANCE[decoder.weights.dtype]
    if not difference <= allowed:  # also where it is no number
        _log.warning("The CUDA graph's logits differ by %.2g of the largest, more than %.2g", difference, allowed)
        return EagerDecoding(decoder, "without a CUDA graph, which gave other logits")
    return RecordedDecoding(decoder, record, words="with a CUDA graph for decode")


@torch.inference_mode()
def _difference(decoder: Decoder, layout: CacheLayout, trial: Decoding) -> float:
    """Largest difference from eager logits after a short prompt, as a share of the largest."""
    ids = torch.arange(_PROMPT + _CHECKED, device=layout.device) % decoder.config.vocab_size
    eager, tried = (_decoded(decoder, layout, way, ids) for way in (EagerDecoding(decoder), trial))
    return float((tried - eager).abs().max() / eager.abs().max())


def _decoded(decoder: Decoder, layout: CacheLayout, way: Decoding, ids: Tensor) -> Tensor:
    """Logits of the last `_CHECKED` of the ids, decoded one by one; float32 [_CHECKED, vocab_size]."""
    cache = KVCache(layout)
    cache.reserve(len(ids))
    decoder.prefill(ids[:_PROMPT], cache, 0)
    cache.advance(_PROMPT)
    rows = []
    for position in range(_PROMPT, len(ids)):
        rows.append(way.logits(ids[position : position + 1], cache).clone())
        cache.advance(1)
    return torch.cat(rows)
