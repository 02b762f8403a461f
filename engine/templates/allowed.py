"""The methods and filters that a chat template may use, by name. Torch-free."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Filters by what they go through: nothing, the items of their value, or everything below it. Left out are those that
# could take long or make much, and that no chat template needs.
QUICK: Final = _words("abs attr count d default first float int items last length safe")
SHALLOW: Final = _words("batch list map reject rejectattr reverse select selectattr slice")
DEEP: Final = _words(
    "capitalize dictsort e escape forceescape format groupby indent join lower max min replace round sort string sum "
    "title trim truncate unique upper urlencode wordcount"
)
METHODS: Final[tuple[tuple[tuple[type, ...], frozenset[str]], ...]] = (
    (
        (str,),
        _words(
            "capitalize casefold count endswith find format index isalnum isalpha isascii isdecimal isdigit islower "
            "isnumeric isspace istitle isupper join lower lstrip partition removeprefix removesuffix replace rfind "
            "rindex rpartition rsplit rstrip split splitlines startswith strip swapcase title upper"
        ),
    ),
    ((Mapping,), _words("get items keys values")),
    ((list, tuple), _words("count index")),
)
