"""Calls of tools in the three ways models write them, cut anywhere; what is no call stays text."""

from __future__ import annotations

import json

import pytest

from engine.tools import CallReader, ToolStyle, tool_style

NAMES = {"weather", "clock"}
HERMES = '<tool_call>\n{"name": "weather", "arguments": {"city": "Zürich", "days": 2}}\n</tool_call>'
CASES = [
    (ToolStyle.HERMES, HERMES),
    (ToolStyle.LLAMA, '{"name": "weather", "parameters": {"city": "Zürich", "days": 2}}'),
    (ToolStyle.LLAMA, ' \n<|python_tag|>{"name": "weather", "parameters": {"city": "Zürich", "days": 2}}'),
    (ToolStyle.MISTRAL, '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "Zürich", "days": 2}}]'),
    (ToolStyle.MISTRAL, '[TOOL_CALLS] [{"name": "weather", "arguments": "{\\"city\\": \\"Zürich\\", \\"days\\": 2}"}]'),
    (ToolStyle.MISTRAL, '[TOOL_CALLS]weather[ARGS]{"city": "Zürich", "days": 2}'),
]


def read(style: ToolStyle, text: str, piece: int):
    reader = CallReader(style, NAMES)
    shown = "".join(reader.push(text[at : at + piece]) for at in range(0, len(text), piece))
    rest, calls = reader.finish()
    return shown + rest, [(call.name, json.loads(call.arguments)) for call in calls]


@pytest.mark.parametrize("piece", [1, 3, 1000])
@pytest.mark.parametrize(("style", "text"), CASES)
def test_a_call_is_found_however_the_text_comes(style, text, piece):
    shown, calls = read(style, text, piece)
    assert calls == [("weather", {"city": "Zürich", "days": 2})]
    assert not shown.strip()


@pytest.mark.parametrize("piece", [1, 1000])
def test_text_before_a_call_is_shown_and_several_calls_are_several(piece):
    text = f'Let me look. {HERMES}\n<tool_call>{{"name": "clock", "arguments": {{}}}}'  # cut off: no end tag
    shown, calls = read(ToolStyle.HERMES, text, piece)
    assert shown == "Let me look. "
    assert [name for name, _ in calls] == ["weather", "clock"]
    two = '{"name": "clock", "parameters": {}}; {"name": "clock", "parameters": {}}'
    assert len(read(ToolStyle.LLAMA, two, piece)[1]) == 2


@pytest.mark.parametrize("piece", [1, 1000])
@pytest.mark.parametrize(
    ("style", "text"),
    [
        (ToolStyle.HERMES, "a <tool_cal is no call, <tool_call>{broken</tool_call>"),
        (ToolStyle.HERMES, '<tool_call>{"name": "unknown", "arguments": {}}</tool_call>'),
        (ToolStyle.HERMES, '<tool_call>{"name": "weather", "arguments": [1]}</tool_call>'),
        (ToolStyle.HERMES, "<tool_call>[]</tool_call>"),
        (ToolStyle.LLAMA, '{"answer": 42}'),
        (ToolStyle.LLAMA, 'The object {"name": "clock", "parameters": {}} is shown'),
        (ToolStyle.MISTRAL, "[TOOL_CALLS]{"),
        (ToolStyle.HERMES, "<tool_call>" + "[" * 100_000),
        (ToolStyle.MISTRAL, "[TOOL"),
        (ToolStyle.LLAMA, "  "),
    ],
)
def test_what_is_no_call_stays_the_text_that_it_is(style, text, piece):
    assert read(style, text, piece) == (text, [])


@pytest.mark.parametrize(
    ("template", "style"),
    [
        ("{% if tools %}<tool_call>{% endif %}", ToolStyle.HERMES),
        ("{{ tools }}[AVAILABLE_TOOLS][TOOL_CALLS]", ToolStyle.MISTRAL),
        ('{{ tools }} {"name": function name, "parameters": dictionary}', ToolStyle.LLAMA),
        ("{{ tools }} in some other way", None),
        ("{{ messages }} <tool_call>", None),
    ],
)
def test_the_template_tells_how_calls_are_written(template, style):
    assert tool_style(template) is style
