"""Templates that want to take for ever, fill memory, or reach what is none of their business."""

from __future__ import annotations

from typing import Final

_DOUBLED = "".join(f"{{% set x{n + 1} %}}{{{{ x{n} }}}}{{{{ x{n} }}}}{{% endset %}}" for n in range(60))
_NESTED = "".join(f"{{% set n{n + 1} = namespace(a=n{n}, b=n{n}) %}}" for n in range(60))

ENDLESS: Final = {
    "a loop in a loop": "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
    "a loop that writes": "{% for a in range(99999) %}{% for b in range(99999) %}word {% endfor %}{% endfor %}",
    "a loop that leaves all out": (
        "{% for i in range(100000) %}{% for a in range(100000) if false %}{% endfor %}{% endfor %}"
    ),
    "a filter in a loop": "{% for i in range(100000) %}{% set x = range(100000) | select | list %}{% endfor %}",
    "long texts looked through": (
        "{% set s = 'a' * 7000000 %}{% for i in range(100000) %}{% if 'b' in s %}{% endif %}{% endfor %}"
    ),
    "long texts copied": "{% set s = 'a' * 1000000 %}{% for i in range(100000) %}{% set x = s | upper %}{% endfor %}",
    "slices": (
        "{% set s = 'a' * 1000000 %}{% set n = namespace(l=[]) %}"
        "{% for i in range(100000) %}{% set n.l = n.l + [s[i:]] %}{% endfor %}"
    ),
    "a macro that calls itself": "{% macro m(n) %}{{ m(n) }}{% endmacro %}{{ m(1) }}",
    "a macro that calls itself twice": (
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}"
    ),
    "a block that shows itself": "{% block a %}{{ self.a() }}{% endblock %}",
    "a recursive loop": "{% for x in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}",
    "callers in callers": (
        "{% macro m() %}{{ caller() }}{{ caller() }}{% endmacro %}" + "{% call m() %}" * 40 + "x" + "{% endcall %}" * 40
    ),
    "a repeated text": "{{ 'a' * 10000000000 }}",
    "a repeated list": "{{ ([0] * 10000000000) | length }}",
    "a power": "{{ 10 ** (10 ** 10) }}",
    "a number squared": (
        "{% set n = namespace(x=10) %}{% for i in range(100) %}{% set n.x = n.x * n.x %}{% endfor %}{{ n.x }}"
    ),
    "a text doubled": (
        "{% set n = namespace(x='a') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x | length }}"
    ),
    "a text added to itself": (
        "{% set n = namespace(x='a') %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x | length }}"
    ),
    "a block doubled": "{% set x0 %}aaaa{% endset %}" + _DOUBLED + "{{ x60 | length }}",
    "a list of itself twice": (
        "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}"
    ),
    "two such lists compared": (
        "{% set n = namespace(x=[1], y=[1]) %}{% for i in range(60) %}"
        "{% set n.x = [n.x, n.x] %}{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x == n.y }}"
    ),
    "namespaces in namespaces": "{% set n0 = namespace(x=1) %}" + _NESTED + "{{ n60 }}",
    "a namespace in itself": "{% set n = namespace(x=1) %}{% set n.x = n %}{{ n }}",
    "a namespace in itself very often": (
        "{% set n = namespace(x=1) %}{% for i in range(9) %}{% set n.x = [n] * 99999 %}{% endfor %}{{ n }}"
    ),
    "lists nested without end": (
        "{% set n = namespace(g=[]) %}{% for i in range(100000) %}{% set n.g = [n.g] %}{% endfor %}{{ n.g }}"
    ),
    "filters nested without end": (
        "{% set n = namespace(g=range(10)) %}{% for i in range(100000) %}{% set n.g = n.g | select %}{% endfor %}"
        "{{ n.g | list }}"
    ),
    "a wide number": "{{ '%1000000000d' % 1 }}",
    "a width from a value": "{{ '%*d' % (1000000000, 1) }}",
    "a wide format": "{{ '{:1000000000}'.format(1) }}",
    "a format of a format": "{{ '{:{}}'.format(1, 1000000000) }}",
    "a filter's wide format": "{{ '%1000000000d' | format(1) }}",
    "an indentation": "{{ 'a' | indent(1000000000, true) }}",
    "an indentation by name": "{{ 'a' | indent(first=true, width=1000000000) }}",
    "a replacement": "{{ ('a' * 1000000).replace('a', 'b' * 100000) }}",
    "a replacement by filter": "{{ ('a' * 1000000) | replace('', 'b' * 100000) }}",
    "a joint": "{{ ('b' * 100000).join(['a'] * 100000) }}",
    "a joint by filter": "{{ (['a'] * 100000) | join('b' * 100000) }}",
    "a number rounded": "{{ 1.5 | round(1000000000, 'floor') }}",
    "lists summed up": "{{ ([[1]] * 1000000) | sum(start=[]) | length }}",
    "a text in pieces": "{{ ('a ' * 7000000).split() | length }}",
    "wide JSON": "{{ ([[[]]] * 100000) | tojson(indent=1000000) }}",
    "numbers whose hashes collide": "{{ range(0, 230584300921369395100000, 2305843009213693951) | unique | list }}",
    "filler text": "{{ lipsum(1000000) }}",
    "a constant that is folded": "{{ 'aaaa' | indent(1000000000, true) }}",
    "brackets": "{{ " + "(" * 90_000 + "1" + ")" * 90_000 + " }}",
    "a sum": "{{ " + "1 + " * 40_000 + "1 }}",
    "conditions in conditions": "{% if a %}" * 5_000 + "{% endif %}" * 5_000,
    "loops in loops": "{% for a in b %}" * 50 + "{% endfor %}" * 50,
    "too many parts": "{{ a }}" * 28_000,
    "ten megabytes": "a" * 10_000_000,
}
REACHING: Final = {
    "a class": "{{ ''.__class__.__mro__ }}",
    "a class by name": "{{ ''['__class__'].x }}",
    "a class by filter": "{{ ('' | attr('__class__')).x }}",
    "a class in a format": "{{ '{0.__class__.x}'.format('') }}",
    "a function's globals": "{{ raise_exception.__globals__.x }}",
    "the template itself": "{{ self.__init__.x }}",
    "a namespace's own": "{{ namespace(_Namespace__attrs=1) }}",
    "a namespace's insides": "{% set n = namespace(a=1) %}{{ n._Namespace__attrs.a }}{{ n.__class__.x }}",
    "a generator's frame": "{{ ([1] | map('string')).gi_frame.x }}",
    "a file": "{% include '/etc/passwd' %}",
    "a module": "{% import 'os' as os %}",
    "a part of a module": "{% from 'os' import path %}",
    "another template": "{% extends 'other' %}",
    "the messages": "{{ messages.append(1) }}",
    "a message": "{{ messages[0].update({}) }}",
    "escaping": "{% autoescape true %}{% endautoescape %}",
}
