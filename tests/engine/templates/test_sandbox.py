"""Whatever a template tries, rendering it ends soon, in little memory, and reaches nothing; honest ones are as ever."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.utils.chat_template_utils import render_jinja_template

from engine.templates.budget import TooCostly
from engine.templates.sandbox import ChatTemplate
from tests.engine.templates.attacks import ENDLESS, REACHING

MESSAGES = [{"role": "user", "content": "Hi"}]
PATIENCE_S = 2.0  # of processor time: the machine may be busy with other tests
MOST_BYTES = 200_000_000
# Every attack in one program of its own: all that it ever held can be measured there.
ATTACKED = """
import json, time
from engine.machine import peak_resident
from engine.templates.sandbox import ChatTemplate
from tests.engine.templates.attacks import ENDLESS

before = peak_resident()
for name, source in ENDLESS.items():
    began, error = time.thread_time(), ""
    try:
        ChatTemplate(source).render({"messages": []})
    except Exception as caught:
        error = repr(caught)[:200]
    told = {"name": name, "seconds": time.thread_time() - began, "error": error, "bytes": peak_resident() - before}
    print(json.dumps(told), flush=True)
"""


@pytest.fixture(scope="module")
def attacked() -> dict[str, dict[str, Any]]:
    """What became of each attack."""
    told = subprocess.run([sys.executable, "-c", ATTACKED], capture_output=True, text=True, check=True, timeout=280)
    return {about["name"]: about for about in map(json.loads, told.stdout.splitlines())}


def processor_seconds(source: str) -> tuple[float, Exception | None]:
    began = time.thread_time()
    try:
        ChatTemplate(source).render({"messages": MESSAGES})
    except Exception as error:
        return time.thread_time() - began, error
    return time.thread_time() - began, None


@pytest.mark.parametrize("name", ENDLESS)
def test_what_would_never_end_ends_soon_in_little_memory(name: str, attacked: dict[str, dict[str, Any]]) -> None:
    about = attacked[name]
    assert about["error"]
    assert about["seconds"] < PATIENCE_S, about
    assert about["bytes"] < MOST_BYTES, about


@pytest.mark.parametrize("name", REACHING)
def test_nothing_is_reached(name: str) -> None:
    _, error = processor_seconds(REACHING[name])
    assert error is not None


def test_what_cannot_be_reached_is_empty() -> None:
    for source in ("{{ ''['__class__'] }}", "{{ '' | attr('__class__') }}", "{{ range.__globals__ }}"):
        assert ChatTemplate(source).render({}) == ""


HONEST = {
    "methods": "{{ ' aB '.strip().lower().upper().title() }}{{ 'a,b'.split(',')[-1] }}{{ 'abc'[1:] }}",
    "filters": "{{ [3, 1] | sort | join(', ') }}{{ 'x' | default('y') }}{{ messages | map(attribute='role') | list }}",
    "selection": "{{ messages | selectattr('role', 'equalto', 'user') | list }}{{ [0, 1] | select | first }}",
    "truth of what is selected": "{{ 'yes' if (messages | selectattr('role', 'equalto', 'nobody')) else 'no' }}",
    "loops": (
        "{% for m in messages %}{{ loop.index }}{{ loop.first }}{{ m['content'] | trim }}"
        "{% if loop.last %}!{% endif %}{% endfor %}"
    ),
    "loop controls": (
        "{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}"
        "{% if i > 4 %}{% break %}{% endif %}{% endfor %}"
    ),
    "namespaces": (
        "{% set n = namespace(found=false, self=1) %}{% for m in messages %}{% set n.found = m.role %}{% endfor %}"
        "{{ n.found }}{{ n.self }}"
    ),
    "macros": (
        "{% macro show(m, end='.') %}{{ m.role ~ ': ' ~ m.content ~ end }}{% endmacro %}"
        "{{ show(messages[0]) }}{{ show(messages[0], end='?') }}"
    ),
    "marks for training": (
        "{% for m in messages %}{% generation %}{{ m.content }}{% set x = 1 %}\n{% endgeneration %}{% endfor %}-"
    ),
    "JSON": (
        "{{ tools | tojson }}{{ tools | tojson(indent=4) }}{{ {'ü': [1, 2.5, none]} | tojson(ensure_ascii=true) }}"
        "{{ {'b': 1, 'a': 2} | tojson(sort_keys=true, separators=(',', ':')) }}"
    ),
    "kinds": "{{ messages is sequence }}{{ messages[0] is mapping }}{{ none is none }}{{ x is defined }}",
    "dicts": (
        "{% for key, value in {'a': 1, 'b': [2]}.items() %}{{ key }}={{ value }};{% endfor %}{{ dict(a=1) }}"
        "{{ messages[0].get('x', 'none') }}"
    ),
    "lists": "{{ (messages + [{'role': 'assistant'}])[1:] }}{{ [1, 2] + [3] }}{{ (1, 2) }}{{ [1, 2][::-1] }}",
    "numbers": "{{ 7 // 2 }}{{ 7 % 2 }}{{ 2 ** 10 }}{{ 1.25 | round(1) }}{{ '%d of %s' % (3, 'x') }}",
    "formats": "{{ '%.2f' | format(1.5) }}{{ '{} {x}'.format(1, x=2) }}{{ '%s' % 'a' }}",
    "indentation": "{{ 'a\nb' | indent(2) }}{{ 'a\nb' | indent(width=2, first=true) }}{{ 'aXb' | replace('X', '-') }}",
    "safe text": "{{ '<a>' | safe }}{{ ('<a>' | safe) + '<b>' }}{{ ('<a>' | safe) ~ '<b>' }}{{ '<' | e }}",
    "blocks of text": (
        "{% set text %}\n  a {{ messages[0].content }}\n{% endset %}{{ text | trim }}{% filter upper %}b{% endfilter %}"
    ),
}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "clock", "description": "tells ‘the’ time", "parameters": {}}}
]


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_template_gives_what_transformers_makes_of_it(name: str) -> None:
    messages = [{"role": "user", "content": " Hi there "}, {"role": "assistant", "content": "Hello"}]
    expected: Any = render_jinja_template([messages], chat_template=HONEST[name], tools=TOOLS)
    assert ChatTemplate(HONEST[name]).render({"messages": messages, "tools": TOOLS}) == expected[0][0]


def test_a_long_chat_may_cost_more() -> None:
    messages = [{"role": "user", "content": "word " * 2_000} for _ in range(1_000)]
    source = "{% for m in messages %}{{ ('<' ~ m.role ~ '>' ~ m.content | trim) | replace('x', 'y') }}{% endfor %}"
    assert len(ChatTemplate(source).render({"messages": messages})) > 9_000_000


def test_every_rendering_has_a_budget_of_its_own() -> None:
    template = ChatTemplate("{% for i in range(30000) %}{% for j in range(n) %}{% endfor %}{% endfor %}")
    for _ in range(3):
        with pytest.raises(TooCostly):
            template.render({"n": 1000})
        assert template.render({"n": 2}) == ""


NAMES = st.sampled_from(["messages", "m", "n.x", "'ab'", "3", "[1, 2]", "range(9)", "{'a': 1}", "x", "(1, 2)", "none"])
OPERATORS = st.sampled_from(["+", "*", "~", "%", "**", "-", "//", "==", "in", "and", "<"])
FILTERS = st.sampled_from(
    (
        *("upper", "list", "join(',')", "string", "tojson", "length", "indent(9)", "replace('a','bb')"),
        *("map('string')", "select", "first", "sort", "unique", "sum", "batch(2)", "slice(2)", "round(2)"),
        *("format(1)", "title", "trim", "dictsort", "items", "reverse", "escape", "groupby('a')"),
    )
)
METHODS = st.sampled_from(["split()", "join(m)", "items()", "__class__", "x", "count(1)"])


def deeper(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} {} {})".format, inner, OPERATORS, inner),
        st.builds("({} | {})".format, inner, FILTERS),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("{}[{}:]".format, inner, st.integers(-3, 3)),
        st.builds("({}).{}".format, inner, METHODS),
    )


EXPRESSIONS = st.recursive(NAMES, deeper, max_leaves=6)
STATEMENTS = st.recursive(
    st.builds("{{{{ {} }}}}".format, EXPRESSIONS) | st.builds("{{% set n.x = {} %}}".format, EXPRESSIONS),
    lambda inner: st.one_of(
        st.builds("{{% for m in {} %}}{}{{% endfor %}}".format, EXPRESSIONS, inner),
        st.builds("{{% for m in range(999) %}}{}{{% endfor %}}".format, inner),
        st.builds("{{% if {} %}}{}{{% endif %}}".format, EXPRESSIONS, inner),
        st.builds("{}{}".format, inner, inner),
    ),
    max_leaves=8,
)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # Python's, of what the template says
@settings(max_examples=60)
@given(STATEMENTS)
def test_templates_made_at_random_end_soon(body: str) -> None:
    took, _ = processor_seconds("{% set n = namespace(x='a') %}" + body)
    assert took < PATIENCE_S


def test_memory_is_bounded_by_what_the_template_is_given() -> None:
    messages = [{"role": "user", "content": "x" * 1_000_000}]
    source = (
        "{% set n = namespace(l=[]) %}"
        "{% for i in range(90000) %}{% set n.l = n.l + [messages[0].content[i:]] %}{% endfor %}"
    )
    tracemalloc.start()
    try:
        with pytest.raises(TooCostly):
            ChatTemplate(source).render({"messages": json.loads(json.dumps(messages))})
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()
