"""Keys stay in the system's keyring, and where there is none, in this program alone."""

from __future__ import annotations

import keyring
import pytest
from keyring.backends.fail import Keyring as Missing

from engine.errors import EngineError
from engine.keys import NO_KEYRING, SERVICE, Keys
from tests.memory_keyring import MemoryKeyring


class Locked(MemoryKeyring):
    """A keyring that the person does not unlock."""

    def get_password(self, service: str, username: str) -> str | None:
        raise keyring.errors.KeyringLocked("locked")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise keyring.errors.KeyringLocked("locked")


def test_a_key_is_kept_changed_and_dropped() -> None:
    backend = MemoryKeyring()
    keys = Keys(backend)
    assert keys.get("box") == ""
    assert keys.keep("box", "sk-1") == "" and keys.get("box") == "sk-1"
    assert keys.keep("box", "sk-2") == "" and backend.held == {(SERVICE, "box"): "sk-2"}
    keys.drop("box")
    keys.drop("box")
    assert keys.get("box") == "" and backend.held == {}
    keys.keep("box", "sk-3")
    assert keys.keep("box", "") == "" and backend.held == {}


def test_without_a_keyring_a_key_is_kept_for_this_session_and_that_is_said(monkeypatch) -> None:
    monkeypatch.setattr(keyring, "get_keyring", Missing)
    keys = Keys()
    assert keys.get("box") == ""
    assert keys.keep("box", "sk-1") == NO_KEYRING
    assert keys.get("box") == "sk-1"
    assert Keys().get("box") == ""
    keys.drop("box")
    assert keys.get("box") == ""


def test_a_keyring_that_cannot_be_set_up_is_none(monkeypatch) -> None:
    monkeypatch.setattr("keyring.core._keyring_backend", None)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "no.such.module.Keyring")
    keys = Keys()
    assert keys.get("box") == ""
    assert keys.keep("box", "sk-1") == NO_KEYRING and keys.get("box") == "sk-1"
    keys.drop("box")
    assert keys.get("box") == ""


def test_a_keyring_that_stays_locked_is_said() -> None:
    keys = Keys(Locked())
    with pytest.raises(EngineError, match="unlock it"):
        keys.get("box")
    assert keys.keep("box", "sk-1") == NO_KEYRING and keys.get("box") == "sk-1"
    keys.drop("box")
