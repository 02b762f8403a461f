"""Servers that the person added: their addresses, checked, and the file that keeps them. No key is in it."""

from __future__ import annotations

import ipaddress
import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from engine.errors import BadRequest, EngineError
from engine.models.names import slug

FILE: Final = "servers.json"  # in the folder of settings
SEPARATOR: Final = "/"  # between a server's id and its model; no model on this machine has it in its name
_DEFAULT_PATH: Final = "/v1"
_SPACE: Final = re.compile(r"[\s\x00-\x1f\x7f]")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RemoteServer:
    """One server.

    Attributes:
        id: Never changes; begins the names of its models, and names its key.
        name: For people.
        base_url: As `check_address` gives it.
        models: Those of its models that the person chose, by their names there.
    """

    id: str
    name: str
    base_url: str
    models: tuple[str, ...] = ()

    @property
    def host(self) -> str:
        """Where text goes: host name, and port if it has one."""
        return urlsplit(self.base_url).netloc

    def name_of(self, model: str) -> str:
        """The name by which Loquat knows one of its models."""
        return f"{self.id}{SEPARATOR}{model}"


def check_address(text: str) -> str:
    """The base URL that a person typed, as it is used: without a slash at its end, and with a path.

    Raises:
        BadRequest: It is none.
    """
    typed = text.strip()
    parts = _split(typed)
    if parts.username or parts.password:
        raise BadRequest("The address holds a name or a password; please put the key into its own field.")
    if parts.query or parts.fragment:
        raise BadRequest("The address must end with its path, like https://gpu.example/v1; please leave the rest out.")
    path = parts.path.rstrip("/").removesuffix("/chat/completions").removesuffix("/models")
    return f"{parts.scheme}://{parts.netloc.lower()}{path or _DEFAULT_PATH}"


def _split(typed: str) -> SplitResult:
    if _SPACE.search(typed):
        raise BadRequest("The address holds a space; please correct it.")
    try:
        parts = urlsplit(typed)
        valid = bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid and "://" in typed:
        raise BadRequest("This is no complete address; please write one like https://gpu.example:8000/v1.")
    if not valid or parts.scheme not in ("http", "https"):
        raise BadRequest("The address must begin with https:// or http://; please write it with that.")
    return parts


def is_loopback(base_url: str) -> bool:
    """Whether an address is this machine's own."""
    host = (urlsplit(base_url).hostname or "").rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def address_warning(base_url: str) -> str:
    """One sentence where text would travel in the open; empty where it does not."""
    if base_url.startswith("https://") or is_loopback(base_url):
        return ""
    host = urlsplit(base_url).netloc
    return f"The text to {host} and its key are not encrypted on the way; use https:// unless the network is your own."


def new_id(name: str, taken: Iterable[str]) -> str:
    """An id for a server of that name, that no other has."""
    stem, used, number = slug(name), set(taken), 1
    chosen = stem
    while chosen in used:
        number += 1
        chosen = f"{stem}-{number}"
    return chosen


def read_servers(path: Path) -> tuple[RemoteServer, ...]:
    """The servers in a file, in the order in which they were added; none if there is no file.

    An entry that is no server is passed over, and the log says so.

    Raises:
        EngineError: The file cannot be read.
    """
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["servers"]
        if not isinstance(entries, list):
            raise TypeError("not a list")
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        sentence = f"The list of servers in {path} cannot be read; move it away and add your servers again."
        raise EngineError(sentence, repr(error)) from error
    return tuple(server for entry in entries if (server := _server_from(entry)) is not None)


def servers_json(servers: Sequence[RemoteServer]) -> str:
    """What `read_servers` reads."""
    entries = [{"id": s.id, "name": s.name, "base_url": s.base_url, "models": list(s.models)} for s in servers]
    return json.dumps({"servers": entries}, indent=2, ensure_ascii=False) + "\n"


def find_model(servers: Iterable[RemoteServer], name: str) -> tuple[RemoteServer, str] | None:
    """The server and the model there that a name means; None if it is that of a model on this machine.

    Args:
        servers: All there are.
        name: The server's id, or its name as people write it, and its model's name there: "GPU box/org/big-model".
    """
    listed = tuple(servers)
    for server, called in (*((server, server.id) for server in listed), *((server, server.name) for server in listed)):
        head, rest = name[: len(called)], name[len(called) :]
        if head.casefold() == called.casefold() and rest.startswith(SEPARATOR) and rest != SEPARATOR:
            return server, rest.removeprefix(SEPARATOR)
    return None


def model_names(config: Path) -> tuple[str, ...]:
    """The names of all models on servers that the person chose.

    Args:
        config: The folder of settings.

    Raises:
        EngineError: The list of servers cannot be read.
    """
    return tuple(server.name_of(model) for server in read_servers(config / FILE) for model in server.models)


def _server_from(entry: object) -> RemoteServer | None:
    try:
        if not isinstance(entry, Mapping):
            raise BadRequest("It is no object.")
        return RemoteServer(
            _text(entry, "id"), _text(entry, "name"), check_address(_text(entry, "base_url")), _models(entry)
        )
    except BadRequest as error:
        _log.warning("an entry of the list of servers is passed over: %s", error.sentence)
        return None


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value or (key == "id" and SEPARATOR in value):
        raise BadRequest(f"Its {key} is missing.")
    return value


def _models(entry: Mapping[str, Any]) -> tuple[str, ...]:
    models = entry.get("models", [])
    return tuple(model for model in models if isinstance(model, str) and model) if isinstance(models, list) else ()
