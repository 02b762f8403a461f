"""The person's access token for a hub: in HF_TOKEN, or in the system's keyring. Never written anywhere else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from engine.errors import EngineError
from engine.hub.values import HubFailure
from engine.keys import Keys

TOKEN_ID: Final = "hub"  # noqa: S105 - the name under which it is kept
_VARIABLES: Final = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_LONGEST: Final = 500


class Tokens:
    """Gives the token when it is needed, and not before: a keyring may ask the person to unlock it.

    Args:
        keys: Where it is kept.
        environment: Where HF_TOKEN is looked up, which comes first.
    """

    def __init__(self, keys: Keys | None = None, environment: Mapping[str, str] = os.environ) -> None:
        self._keys = keys or Keys()
        self._environment = environment

    def given(self) -> str:
        """The token that was set for this program alone; empty where there is none.

        Raises:
            HubFailure: It cannot be a token.
        """
        given = next((token for name in _VARIABLES if (token := self._environment.get(name, "").strip())), "")
        return _checked(given)

    def kept(self) -> str:
        """The token in the keyring; empty where there is none, or where the keyring holds it back.

        Raises:
            HubFailure: It cannot be a token.
        """
        try:
            kept = self._keys.get(TOKEN_ID)
        except EngineError:  # asked for again by the sentence about a missing token
            return ""
        return _checked(kept.strip())

    def forget(self) -> bool:
        """Drop the token in the keyring; whether there is none any more."""
        self._keys.drop(TOKEN_ID)
        try:
            return not self._keys.get(TOKEN_ID)
        except EngineError:  # it holds it back, so it may well be there
            return False

    def keep(self, token: str) -> str:
        """Keep a token.

        Returns:
            One sentence where it is kept only until the program ends; else "".

        Raises:
            HubFailure: It cannot be a token.
        """
        return self._keys.keep(TOKEN_ID, _checked(token.strip()))


def _checked(token: str) -> str:
    """What can stand in the header of a request."""
    if len(token) > _LONGEST or not token.isascii() or not token.isprintable() or " " in token:
        raise HubFailure("token", "That is no access token; copy it once more from the settings of your account.")
    return token
