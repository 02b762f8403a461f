"""What all commands share: an output that lacks characters ends none of them."""

from __future__ import annotations

import os
import subprocess
import sys

from engine.models.choices import ModelChoices, write_choices
from engine.paths import Paths
from tests.tiny_models import make_tiny_model


def test_a_character_that_the_output_lacks_is_spelled(loquat_home: Paths) -> None:
    write_choices(make_tiny_model("llama", loquat_home.models / "tiny"), ModelChoices(label="Größe 小"))
    done = subprocess.run(
        [sys.executable, "-m", "app", "models", "list"],
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode("cp1252").rstrip().endswith("Größe \\u5c0f")
