"""What the server counts, as Prometheus text; the names are vLLM's with another prefix where they mean the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from engine.stats import TurnStats

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
_TTFT_S: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_TOKEN_S: Final = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1)


class Metrics:
    """One server's figures.

    Args:
        kv_bytes: Memory held by all KV caches, asked for whenever the figures are read.
        running: Requests being answered, likewise.
        waiting: Requests in the queue, likewise.
    """

    def __init__(
        self, kv_bytes: Callable[[], float], running: Callable[[], float], waiting: Callable[[], float]
    ) -> None:
        self._registry = CollectorRegistry()
        self._gauge("kv_cache_bytes", "Memory held by the KV caches of all conversations.", kv_bytes)
        self._gauge("requests_running", "Requests being answered.", running)
        self._gauge("requests_waiting", "Requests waiting for their turn.", waiting)
        self._ttft = self._histogram("time_to_first_token_seconds", "From a request's arrival to its token.", _TTFT_S)
        self._per_token = self._histogram("time_per_output_token_seconds", "Of each token after the first.", _TOKEN_S)
        self._prompt = self._counter("prompt_tokens", "Tokens of prompts.")
        self._cached = self._counter("cached_tokens", "Tokens of prompts that came from the KV cache.")
        self._computed = self._counter("computed_tokens", "Tokens of prompts that were computed.")
        self._generated = self._counter("generation_tokens", "Tokens of replies.")
        self._requests = Counter("loquat_requests", "Requests by how they ended.", ["outcome"], registry=self._registry)

    def answered(self, outcome: str, stats: TurnStats) -> None:
        """A reply ended."""
        self._requests.labels(outcome).inc()
        self._prompt.inc(stats.prompt_tokens)
        self._cached.inc(stats.cached_tokens)
        self._computed.inc(stats.prefill_tokens)
        self._generated.inc(stats.completion_tokens)
        if stats.ttft_s is not None:
            self._ttft.observe(stats.ttft_s)
        if stats.decode_tokens_per_s:
            self._per_token.observe(1 / stats.decode_tokens_per_s)

    def refused(self, status: int) -> None:
        """A request ended with an error."""
        self._requests.labels(str(status)).inc()

    def text(self) -> bytes:
        """All figures."""
        return generate_latest(self._registry)

    def _gauge(self, name: str, about: str, read: Callable[[], float]) -> None:
        Gauge(f"loquat_{name}", about, registry=self._registry).set_function(read)

    def _counter(self, name: str, about: str) -> Counter:
        return Counter(f"loquat_{name}", about, registry=self._registry)

    def _histogram(self, name: str, about: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(f"loquat_{name}", about, buckets=buckets, registry=self._registry)
