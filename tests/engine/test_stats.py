"""From stamps to figures."""

from __future__ import annotations

import pytest

from engine.stats import TurnStamps, decode_rate, inter_token_latency, percentile, turn_stats


def test_the_figures_of_a_turn():
    stamps = TurnStamps(10.0, 10.1, 10.15, 10.9, (11.0, 11.1, 11.2, 11.5))
    stats = turn_stats(stamps, prompt=50, cached=40, prefilled=10, kv_bytes=7)
    assert stats.queue_s == pytest.approx(0.1)
    assert stats.template_s == pytest.approx(0.05)
    assert stats.prefill_s == pytest.approx(0.75)
    assert stats.ttft_s == pytest.approx(1.0)
    assert stats.decode_tokens_per_s == pytest.approx(3 / 0.5)
    assert stats.itl_ms.max == pytest.approx(300)
    assert stats.itl_ms.p50 == pytest.approx(100)
    assert stats.total_s == pytest.approx(1.5)
    assert (stats.prompt_tokens, stats.completion_tokens) == (50, 4)


@pytest.mark.parametrize("times", [(), (1.0,), (1.0, 1.0)])
def test_what_cannot_be_measured_is_none(times):
    assert decode_rate(times) is None


def test_no_token_no_figures():
    stats = turn_stats(TurnStamps(1.0, 1.0, 1.0, 2.0, ()), prompt=5, cached=0, prefilled=5, kv_bytes=0)
    assert stats.ttft_s is None
    assert stats.itl_ms is None
    assert stats.total_s == 1.0


def test_percentiles_are_values_that_occurred():
    assert percentile([5, 1, 3], 0.5) == 3
    assert percentile([5, 1, 3], 1.0) == 5
    assert inter_token_latency([0.0, 1.0]).p95 == pytest.approx(1000)


def test_a_clock_that_ran_backwards_gives_no_figure_below_zero():
    stamps = TurnStamps(10.0, 9.0, 9.5, 8.0, (7.0, 8.0, 6.0))
    stats = turn_stats(stamps, prompt=5, cached=0, prefilled=5, kv_bytes=0)
    assert (stats.queue_s, stats.template_s, stats.prefill_s, stats.total_s) == (0.0, 0.5, 0.0, 0.0)
    assert (stats.ttft_s, stats.itl_ms, stats.decode_tokens_per_s) == (None, None, None)
