"""Order of runs, medians, and what a report says."""

from __future__ import annotations

import json

import pytest

from engine.bench.harness import Figure, Report, alternate, medians, number


def test_sides_take_turns_and_begin_in_turn() -> None:
    order: list[str] = []

    def side(name: str):
        def run() -> int:
            order.append(name)
            return len(order)

        return run

    results = alternate({"a": side("a"), "b": side("b")}, runs=3)
    assert "".join(order) == "ab" + "ab" + "ba" + "ab"
    assert results == {"a": [3, 6, 7], "b": [4, 5, 8]}  # the first of each was to warm up


def test_medians_are_of_each_side() -> None:
    assert medians({"a": [3.0, 1.0, 100.0], "b": [1.0, 2.0]}) == {"a": 3.0, "b": 1.5}


@pytest.mark.parametrize(
    ("values", "better", "checked", "held"),
    [
        ({"ratio": 0.2, "limit": 0.25}, "less", "ratio", True),
        ({"ratio": 0.26, "limit": 0.25}, "less", "ratio", False),
        ({"ratio": 4.0, "limit": 4.0}, "more", "ratio", True),
        ({"ratio": 3.9, "limit": 4.0}, "more", "ratio", False),
        ({"measured": 151.0, "limit": 150.0}, "less", "measured", False),
        ({"ratio": None, "limit": 0.25}, "less", "ratio", None),
        ({"ratio": 0.5}, "less", "ratio", None),
    ],
)
def test_a_limit_is_held_or_missed(
    values: dict[str, float | None], better: str, checked: str, held: bool | None
) -> None:
    assert Figure("f", "F", "ms", values, better, checked).held is held


REPORT = Report(
    "turns",
    {"model": "Tiny", "runs": 3},
    [
        Figure("turn8", "turn 8", "ms", {"reuse": 12.34, "fresh": 1234.5, "ratio": 0.01, "limit": 0.25}),
        Figure("cancel", "stop", "ms", {"reuse": 200.0, "limit": 150.0}, checked="reuse"),
        Figure("none", "nothing", "s", {"reuse": None}),
    ],
)


def test_the_table_is_aligned_and_says_what_was_missed() -> None:
    assert REPORT.table().splitlines() == [
        "model: Tiny",
        "runs: 3",
        "",
        "         reuse  fresh  ratio  limit",
        "turn 8    12.3  1,234  0.010  0.250  ms  ok",
        "stop       200      -      -    150  ms  missed",
        "nothing      -      -      -      -  s",
    ]


def test_json_has_every_figure_by_name() -> None:
    made = json.loads(REPORT.json())
    assert (made["bench"], made["model"], list(made["figures"])) == ("turns", "Tiny", ["turn8", "cancel", "none"])
    assert made["figures"]["turn8"] == {
        "label": "turn 8", "unit": "ms", "reuse": 12.34, "fresh": 1234.5, "ratio": 0.01, "limit": 0.25, "held": True,
    }  # fmt: skip
    assert made["figures"]["cancel"]["held"] is False


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (float("nan"), "-"),
        (0.0, "0.000"),
        (0.1234, "0.123"),
        (0.9996, "1.00"),
        (9.996, "10.0"),
        (99.96, "100"),
        (123456.7, "123,457"),
    ],
)
def test_numbers_have_three_digits(value: float | None, text: str) -> None:
    assert number(value) == text
