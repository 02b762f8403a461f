"""Typed look-ups in a GGUF file's metadata: a wrong or missing value is the file's fault, and says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from engine.errors import BadModelFile

Value = int | float | bool | str | list[str] | npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class Metadata:
    """The key-value part of a GGUF file.

    Attributes:
        file_name: Named in error sentences.
        values: Arrays of strings are lists, arrays of numbers are numpy arrays.
    """

    file_name: str
    values: Mapping[str, Value]

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def text(self, key: str, default: str | None = None) -> str:
        """A string; `default` when the key is missing and a default is given."""
        value = self.values.get(key, default)
        return value if isinstance(value, str) else self._refuse(key, "text")

    def integer(self, key: str, default: int | None = None) -> int:
        """A whole number; of an array with one number per layer, the one they all share."""
        value = self.values.get(key, default)
        if isinstance(value, np.ndarray) and value.size and (value == value[0]).all():
            value = value[0].item()
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        return self._refuse(key, "a whole number")

    def positive(self, key: str, default: int | None = None) -> int:
        """A whole number above zero."""
        value = self.integer(key, default)
        return value if value > 0 else self._refuse(key, "a number above zero")

    def number(self, key: str, default: float | None = None) -> float:
        """A number, as a float."""
        value = self.values.get(key, default)
        if isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value):
            return float(value)
        return self._refuse(key, "a number")

    def flag(self, key: str, default: bool | None = None) -> bool:
        """True or false."""
        value = self.values.get(key, default)
        return value if isinstance(value, bool) else self._refuse(key, "true or false")

    def strings(self, key: str) -> list[str]:
        """A list of strings."""
        value = self.values.get(key)
        return value if isinstance(value, list) else self._refuse(key, "a list of texts")

    def numbers(self, key: str) -> npt.NDArray[np.generic]:
        """An array of numbers, shape [n]."""
        value = self.values.get(key)
        return value if isinstance(value, np.ndarray) else self._refuse(key, "a list of numbers")

    def _refuse(self, key: str, wanted: str) -> NoReturn:
        problem = f"{key} should be {wanted}" if key in self.values else f"{key} is missing"
        raise BadModelFile(
            f"The file {self.file_name} does not describe its model completely ({problem}); get it again.",
            f"{key} = {self.values.get(key)!r:.200}",
        )
