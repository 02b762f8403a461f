"""Loquat's desktop window (PySide6). It knows the engine's torch-free values; one module touches the worker."""

import ctypes
import sys

# PySide6 6.12.0 returns None and True without owning a reference to them, from nearly every call (`setText`, `emit`).
# From Python 3.12 on they are immortal; before, the program is aborted ("deallocating None") after some thousand calls.
# So they get more references here than any run can use up; tests/app/test_references.py fails without.
_REFERENCES = 2**48
if sys.version_info < (3, 12) and sys.implementation.name == "cpython":
    for _value in (None, True, False):
        ctypes.c_ssize_t.from_address(id(_value)).value += _REFERENCES
