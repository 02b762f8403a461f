"""What packaging/test_deb.py waits for, as far as it can be tried without a package and a clean root."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import test_deb as clean_root

from app.settings import Settings


def test_a_model_is_ready_when_the_program_has_noted_it(qapp: object, tmp_path: Path) -> None:
    root = clean_root.Root(tmp_path)
    assert not clean_root._has_model(root)
    settings = Settings(tmp_path / "home" / clean_root.PERSON / ".config" / "loquat" / "settings.json")
    for name, value in (("theme", "dark"), ("last_model", "smollm2")):
        assert not clean_root._has_model(root)
        settings.set(name, value)
        settings.save()
    assert clean_root._has_model(root)


def test_a_program_that_ends_is_not_waited_for() -> None:
    code = "import sys; sys.exit('no display')"
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as child:
        with pytest.raises(clean_root.Failed, match="ended with 1: no display"):
            clean_root.wait_until(lambda: False, child, 60, "No window")
        with pytest.raises(clean_root.Failed, match="ended with"):
            clean_root.wait_until(lambda: False, child, 0, "No window")
