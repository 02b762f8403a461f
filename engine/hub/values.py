"""What a hub says of its models, as frozen values, and how it can fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.errors import FetchFailed

FailureKind = Literal[
    "gated",
    "token",
    "licence",
    "network",
    "disk",
    "checksum",
    "not_found",
    "unsupported",
    "damaged",
    "cancelled",
    "other",
]


class HubFailure(FetchFailed):
    """A hub did not give what was asked of it.

    Attributes:
        kind: What a program can tell from the sentence: whether to offer the licence, a token, or another try.
    """

    def __init__(self, kind: FailureKind, sentence: str, detail: str = "") -> None:
        super().__init__(sentence, detail)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file in a repository.

    Attributes:
        path: Within the repository, with slashes.
        nbytes: Its size.
        sha256: Of its bytes; empty for a file that lies in git itself.
        blob: Git's name for it, the SHA-1 of a header and its bytes; of a large file, of a pointer to it.
    """

    path: str
    nbytes: int
    sha256: str = ""
    blob: str = ""

    @property
    def name(self) -> str:
        """Its name without folders."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Repository:
    """A model's repository at one revision.

    Attributes:
        id: "owner/name".
        revision: The commit; what is downloaded belongs to it, whatever happens to the repository meanwhile.
        files: All of them.
        licence: Its identifier, e.g. "apache-2.0"; empty where the page does not say.
        licence_link: Where it can be read, or empty.
        gated: Whether its owner gives it only to those who accepted terms on its page.
        parameters: Number of weights; 0 where the hub does not know.
        architecture: `model_type` of its config.json; empty where the hub does not know.
        gguf_architecture: As its GGUF files have it; empty where the hub does not know.
        context: Most tokens of a conversation; 0 where the hub does not know.
        base: The model that this one is an adapter for; empty for a model of its own.
        downloads: In the last month.
        likes: How many people like it.
        updated: ISO date of the last change; empty where the hub does not say.
    """

    id: str
    revision: str
    files: tuple[HubFile, ...]
    licence: str = ""
    licence_link: str = ""
    gated: bool = False
    parameters: int = 0
    architecture: str = ""
    gguf_architecture: str = ""
    context: int = 0
    base: str = ""
    downloads: int = 0
    likes: int = 0
    updated: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """One hit of a search.

    Attributes:
        id: "owner/name".
        licence, gated, downloads, likes, updated, parameters: As in `Repository`.
        gguf: Whether it holds GGUF files.
    """

    id: str
    licence: str
    gated: bool
    downloads: int
    likes: int
    updated: str
    parameters: int
    gguf: bool


@dataclass(frozen=True, slots=True)
class Reference:
    """What a person asked for.

    Attributes:
        repository: "owner/name".
        wish: A file's name, or a quantisation such as "Q4_K_M"; empty leaves the choice to Loquat.
        revision: A branch, tag or commit; empty for the repository's main branch.
    """

    repository: str
    wish: str = ""
    revision: str = ""

    def __str__(self) -> str:
        """As it is typed on a command line."""
        return f"{self.repository}:{self.wish}" if self.wish else self.repository
