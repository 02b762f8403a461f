"""Loquat's desktop window (PySide6). It knows the engine's torch-free values; one module touches the worker."""

import ctypes
import sys

# PySide6 6.12.0 takes a reference to True away with every `Signal.emit`: it returns one that it does not own. From
# Python 3.12 on True is immortal; before, the program is aborted ("deallocating True or False") after some hundred
# signals. So True gets more references here than any run can use up; tests/app/test_engine_bridge.py fails without.
_REFERENCES = 2**48
if sys.version_info < (3, 12) and sys.implementation.name == "cpython":
    ctypes.c_ssize_t.from_address(id(True)).value += _REFERENCES
