from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

import pytest
from building import model

from engine.models import catalogue


def test_the_model_of_an_older_build_is_not_shipped_beside_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = hashlib.sha256(b"whole").hexdigest()
    default = dataclasses.replace(catalogue.DEFAULT_MODEL, member="package/new.gguf", sha256=made)
    monkeypatch.setattr(catalogue, "DEFAULT_MODEL", default)
    (tmp_path / "new.gguf").write_bytes(b"whole")
    (tmp_path / "old.gguf").write_bytes(b"of last year")
    assert model.main([str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["new.gguf"]
