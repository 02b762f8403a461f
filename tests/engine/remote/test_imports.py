"""The client and the keyring are loaded when a server is used, and not before."""

from __future__ import annotations

import subprocess
import sys

import pytest

UNLOADED = {"openai", "httpx", "httpx2", "keyring", "asyncio"}


def loaded_after(code: str) -> set[str]:
    line = f"{code}\nimport sys; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("module", ["engine.worker", "engine.cli_chat", "engine.cli_generate"])
def test_a_command_loads_neither_client_nor_keyring(module: str) -> None:
    assert not loaded_after(f"import {module}") & UNLOADED


def test_the_window_loads_neither_client_nor_keyring() -> None:
    loaded = loaded_after("import app.desktop, app.remote_servers, app.views.server_dialog")
    assert "PySide6" in loaded
    assert not loaded & (UNLOADED - {"asyncio"})
