"""Where the hub is said to be."""

from __future__ import annotations

import pytest

from engine.hub.address import PUBLIC, named_hub, told


@pytest.mark.parametrize(
    ("named", "address"),
    [
        ("", PUBLIC),
        ("  ", PUBLIC),
        (" https://mirror.example/hub/ ", "https://mirror.example/hub"),
        ("https://me:secret@mirror.example", "https://mirror.example"),
        ("https://me:a@b@mirror.example:8443/x@y", "https://mirror.example:8443/x@y"),
        ("/", ""),
    ],
)
def test_a_mirror_is_told_without_its_password(named: str, address: str) -> None:
    assert told(named_hub({"HF_ENDPOINT": named})) == address


def test_the_public_hub_is_asked_where_none_is_named() -> None:
    assert named_hub({}) == PUBLIC
