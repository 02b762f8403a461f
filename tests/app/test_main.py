from __future__ import annotations

import os
import subprocess
import sys

import pytest

from app.__main__ import _has_display, _wait_passively, main
from engine.cli import COMMANDS


def loquat(*arguments, **environment):
    variables = {name: value for name, value in os.environ.items() if not name.endswith("DISPLAY")}
    variables.pop("QT_QPA_PLATFORM", None)
    command = [sys.executable, "-m", "app", *arguments]
    return subprocess.run(command, check=False, env=variables | environment, capture_output=True, text=True, timeout=60)


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as done:
        main(["--help"])
    text = capsys.readouterr().out
    assert done.value.code == 0
    assert all(f"  {command} " in text for command in COMMANDS)
    assert "--model" in text
    assert "--new" in text


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a display to ask for")
def test_without_a_display_one_sentence_names_the_terminal_chat():
    done = loquat()
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "There is no display to open a window on. Run `loquat chat` to chat in the terminal.\n"


@pytest.mark.parametrize(
    ("platform", "environment", "there"),
    [
        ("linux", {}, False),
        ("linux", {"DISPLAY": ""}, False),
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("linux", {"QT_QPA_PLATFORM": "offscreen"}, True),
        ("darwin", {}, True),
        ("win32", {}, True),
    ],
)
def test_where_a_window_can_open(platform, environment, there):
    assert _has_display(platform, environment) is there


def test_letters_that_the_encoding_of_a_pipe_lacks_are_spelled():
    """Windows' code pages lack most letters."""
    code = "from app.__main__ import _give_streams; _give_streams(); print('a \u679d b')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "a \\u679d b\n"), done.stderr


@pytest.mark.parametrize("chosen", ["OMP_WAIT_POLICY", "KMP_BLOCKTIME", "GOMP_SPINCOUNT"])
def test_threads_of_torch_wait_passively_unless_the_person_chose_otherwise(chosen):
    environment = {"HOME": "h"}
    _wait_passively(environment)
    assert environment == {"HOME": "h", "OMP_WAIT_POLICY": "PASSIVE"}
    environment = {chosen: "7"}
    _wait_passively(environment)
    assert environment == {chosen: "7"}


def test_the_choice_is_made_before_torch_is_imported_and_not_for_benchmarks():
    script = (
        "import os, sys; from app.__main__ import main; assert 'torch' not in sys.modules\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print(os.environ.get('OMP_WAIT_POLICY'))"
    )
    variables = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}

    def policy(*arguments):
        command = [sys.executable, "-c", script, *arguments, "--help"]
        done = subprocess.run(command, check=True, env=variables, capture_output=True, text=True, timeout=60)
        return done.stdout.splitlines()[-1]

    assert policy("chat") == "PASSIVE"
    assert policy() == "PASSIVE"
    assert policy("bench") == "None"


def test_an_unknown_command_is_named_with_those_there_are():
    done = loquat("chatt")
    assert done.returncode == 2
    assert "there is no command chatt; there are chat, " in done.stderr


def test_version():
    done = loquat("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("loquat ")


def test_commands_of_the_terminal_import_no_qt():
    code = (
        "import sys\nfrom app.__main__ import main\n"
        "try:\n    main(['models', '--help'])\nexcept SystemExit:\n    pass\n"
        "sys.exit('Qt was imported' if any(m.startswith('PySide6') for m in sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="X displays are Linux's")
def test_a_display_on_which_nobody_answers_is_a_sentence_and_no_crash():
    done = loquat(DISPLAY=":4711")
    assert done.returncode == 2
    assert done.stderr == "There is no display to open a window on. Run `loquat chat` to chat in the terminal.\n"
