"""A stand-in hub with one small model, and what asks it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from engine.chat import RequestHandle
from engine.hub.client import Hub
from engine.hub.download import download
from engine.hub.patience import Patience
from engine.hub.plan import Downloads, Unfinished, plan_of
from engine.hub.reference import reference
from engine.hub.selection import choose
from engine.hub.token import Tokens
from engine.keys import Keys
from engine.models.progress import Step
from engine.paths import Paths
from tests.engine.hub.stand_in import StandIn, serve, single
from tests.memory_keyring import MemoryKeyring

REPO = "tiny/llama-chat"
QUICK = Patience(connect_s=5, read_s=20, tries=3, first_wait_s=0.01, longest_wait_s=0.02, longest_pause_s=1.5)
IMPATIENT = replace(QUICK, read_s=0.3)  # for a hub that is to keep silent; another may be held up by a busy machine


def content_of(folder: Path) -> dict[str, bytes]:
    """The files of a model folder, and some that a hub has besides."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != "loquat.json"}
    extra = {"README.md": b"# Tiny", "pytorch_model.bin": b"\x80" * 9000, "modeling_tiny.py": b"print('run')"}
    return {**files, **extra, "onnx/model.onnx": b"\0" * 9000}


@pytest.fixture
def stand_in(tiny_model: Callable[..., Path]) -> Iterator[StandIn]:
    """The hub, serving."""
    repo = single(content_of(tiny_model("llama")), about={"cardData": {"license": "apache-2.0"}})
    hub = StandIn({REPO: repo})
    with serve(hub):
        yield hub


@dataclass
class Client:
    """What asks a stand-in hub, in this process."""

    stand_in: StandIn
    models_dir: Path
    patience: Patience = QUICK
    token: str = ""
    kept: str = ""

    def hub(self) -> Hub:
        keyring = MemoryKeyring()
        keyring.held["Loquat", "hub"] = self.kept
        environment = {"HF_ENDPOINT": self.stand_in.address, "HF_TOKEN": self.token}
        return Hub(Tokens(Keys(keyring), environment), self.patience, environment)

    def begin(self, text: str = REPO) -> Unfinished:
        """Decide on what to download."""
        wanted, downloads = reference(text), Downloads(self.models_dir)
        with self.hub() as hub:
            repository = done(hub.repository(wanted, RequestHandle("test")))
        plan = plan_of(wanted, repository, choose(repository, wanted.wish), name="", label="Tiny", weights="")
        return downloads.begin(plan)

    def download(self, begun: Unfinished, handle: RequestHandle | None = None) -> list[Step]:
        """Fetch it; all steps."""
        with self.hub() as hub:
            return list(download(hub, begun, handle or RequestHandle("test")))


@pytest.fixture
def client(stand_in: StandIn, loquat_home: Paths) -> Client:
    return Client(stand_in, loquat_home.models)


def done(steps: Generator[Step, None, Any]) -> Any:
    """The result of a long operation."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
