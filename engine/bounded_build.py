"""Bounds what a library may build of a model: a description can ask for any number of weights."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from torch import nn
from torch.nn.modules.module import (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)

from engine.decoder.config import SIZES_REFUSED
from engine.errors import BadModelFile


@dataclass(slots=True)
class _Count:
    """What was built so far, in one thread.

    Attributes:
        numbers, modules: That may yet be added.
        thread: Others build models too.
    """

    numbers: int
    modules: int
    thread: int

    def parameter(self, module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        # Where there is one already, it is only filled with what a file holds.
        if parameter is not None and module._parameters.get(name) is None:
            self._spend(parameter.numel(), 0)

    def module(self, module: nn.Module, name: str, part: nn.Module | None) -> None:
        if part is not None:
            self._spend(0, 1)

    def _spend(self, numbers: int, modules: int) -> None:
        if threading.get_ident() != self.thread:
            return
        self.numbers -= numbers
        self.modules -= modules
        if min(self.numbers, self.modules) < 0:
            raise BadModelFile(SIZES_REFUSED, "far more is asked for than the files hold")


@contextmanager
def bounded_build(numbers: int, modules: int) -> Iterator[None]:
    """Let this thread build modules of torch with so many numbers and parts in the block.

    Raises:
        BadModelFile: In the block: it asked for more.
    """
    count = _Count(numbers, modules, threading.get_ident())
    hooks = (
        register_module_parameter_registration_hook(count.parameter),
        register_module_module_registration_hook(count.module),
    )
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
