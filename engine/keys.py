"""Keys of servers, kept in the system's keyring; where there is none, until the program ends and nowhere else.

So it is in portable mode too: its folder may lie on a stick that is lost, and the machine may be somebody else's.

`keyring` is imported with the first key that is looked for. Its backend may ask the person to unlock it, so no method
belongs into a window's thread.
"""

from __future__ import annotations

import logging
import threading
from typing import Final, Protocol

from engine.errors import EngineError
from engine.paths import portable_folder

SERVICE: Final = "Loquat"
NO_KEYRING: Final = "There is no system keyring here, so the key is kept only until Loquat is closed."
PORTABLE: Final = "In portable mode the key is kept only until Loquat is closed."
_log = logging.getLogger(__name__)


class Backend(Protocol):
    """What is needed of `keyring`'s backends."""

    def get_password(self, service: str, username: str) -> str | None:
        """The password, if there is one."""
        ...

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep a password."""
        ...

    def delete_password(self, service: str, username: str) -> None:
        """Drop a password."""
        ...


class Keys:
    """The keys of servers, by the servers' ids. Any thread may use it.

    Args:
        backend: Where they are kept; None takes the system's keyring.
    """

    def __init__(self, backend: Backend | None = None) -> None:
        self._backend = backend
        self._session: dict[str, str] = {}
        self._lock = threading.Lock()

    def get(self, server_id: str) -> str:
        """The key of a server; empty if it has none.

        Raises:
            EngineError: The keyring holds it back.
        """
        with self._lock:
            kept = self._session.get(server_id)
        if kept is not None:
            return kept
        backend = self._keyring()
        if backend is None:
            return ""
        try:
            return backend.get_password(SERVICE, server_id) or ""
        except Exception as error:  # a backend can fail in any way: locked, refused, its service gone
            sentence = "The system keyring does not give the server's key; unlock it, or type the key in once more."
            raise EngineError(sentence, repr(error)) from error

    def keep(self, server_id: str, key: str) -> str:
        """Keep a key, or drop it if it is empty.

        Returns:
            One sentence for the person where it is kept only until the program ends; else "".
        """
        if not key:
            self.drop(server_id)
            return ""
        backend = self._keyring()
        try:
            if backend is not None:
                backend.set_password(SERVICE, server_id, key)
                self._remember(server_id, None)
                return ""
        except Exception as error:  # as above
            _log.info("The keyring does not keep a key: %r", error)
        self._remember(server_id, key)
        return NO_KEYRING if portable_folder() is None else PORTABLE

    def drop(self, server_id: str) -> None:
        """Forget a key; there need not be one."""
        self._remember(server_id, None)
        backend = self._keyring()
        try:
            if backend is not None and backend.get_password(SERVICE, server_id) is not None:
                backend.delete_password(SERVICE, server_id)
        except Exception as error:  # as above
            _log.info("The keyring does not drop a key: %r", error)

    def _remember(self, server_id: str, key: str | None) -> None:
        with self._lock:
            if key is None:
                self._session.pop(server_id, None)
            else:
                self._session[server_id] = key

    def _keyring(self) -> Backend | None:
        """The system's keyring; None where there is none that can be used, and in portable mode."""
        if self._backend is not None:
            return self._backend
        if portable_folder() is not None:
            return None
        import keyring
        from keyring.backends.fail import Keyring as Missing
        from keyring.backends.null import Keyring as Empty

        try:
            backend = keyring.get_keyring()
        except Exception as error:  # PYTHON_KEYRING_BACKEND, or keyring's own settings, can name anything
            _log.info("There is no keyring: %r", error)
            return None
        return None if isinstance(backend, Missing | Empty) else backend
