"""First starts where something is in the way: one sentence each, nothing lost, and all well once it is gone."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app import migrations
from app.desktop import Desktop
from app.migrations import migrate
from app.segment import segment
from engine.models.catalogue import DEFAULT_MODEL
from engine.models.model_folder import FORMAT, MANIFEST
from engine.models.registry import Registry
from engine.paths import Paths
from tests.integration.whole_window import PATIENCE_MS, answers, ask, said, shut

ROOT = Path(__file__).parent.parent.parent
PROGRAM = [sys.executable, "-m", "tests.integration.first_start"]
linux_root = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or shutil.which("unshare") is None,
    reason="only root may mount a small disk, or be somebody else",
)


def start(home: Path, *before: str, **environ: str) -> tuple[int, list[dict[str, Any]], str]:
    """Run the program once; its exit code, what it said, and what it said on standard error."""
    environment = {**os.environ, "LOQUAT_HOME": str(home), "PYTHONPATH": str(ROOT), **environ}
    done = subprocess.run(
        [*before, *PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


# -- homes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["枇杷 dom Ωmega", "quote'$HOME`;#%41 " + ('"' if os.name == "posix" else "") + "x" * 180]
)
def test_a_home_of_any_name_is_lived_in(tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    assert start(home)[:2] == (0, [{"started": []}])
    assert (home / "data" / "conversations.sqlite3").stat().st_size > 0


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc elsewhere")
def test_a_home_that_cannot_be_made_is_told() -> None:
    code, told, error = start(Path("/proc/nowhere"))
    assert code == 2
    assert told == [{"refused": "Loquat cannot keep its files in /proc/nowhere/data: No such file or directory."}]
    assert "Traceback" not in error


# -- a full disk -------------------------------------------------------------------------------------------------------


def small_disk(folder: Path, size: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    return f"mount -t tmpfs -o size={size} small {shlex.quote(str(folder))}"


@linux_root
@pytest.mark.parametrize("size", ["16k", *(pytest.param(size, marks=pytest.mark.slow) for size in ("4k", "120k"))])
def test_a_disk_that_is_full_before_the_first_chat_is_told_and_the_next_start_is_well(
    loquat_home: Paths, size: str
) -> None:
    """Both starts in one mount namespace, in which the disk grows in between."""
    program, folder = shlex.join(PROGRAM), shlex.quote(str(loquat_home.data))
    script = f"{small_disk(loquat_home.data, size)}; {program}; mount -o remount,size=16m {folder}; {program}"
    code, told, error = start(loquat_home.data.parent, "unshare", "-m", "sh", "-c", script)
    sentence = f"The disk is full: chats cannot be kept in {loquat_home.data}. Please make some room there."
    assert (code, told) == (0, [{"refused": sentence}, {"started": []}])
    assert "Traceback" not in error


IMPORT = """
import hashlib, sys
from pathlib import Path
from engine.chat import RequestHandle
from engine.errors import DiskFull
from engine.models.catalogue import CatalogueModel
from engine.models.prepare import prepare
from engine.models.registry import Registry

file, models = Path(sys.argv[1]), Path(sys.argv[2])
model = CatalogueModel("tiny", "Tiny", "none==1", file.name, file.stat().st_size,
                       hashlib.sha256(file.read_bytes()).hexdigest())
filler = models.parent / "filler"

def fill():
    try:
        with filler.open("wb") as other:
            while True:
                other.write(bytes(4096))
                other.flush()
    except OSError:
        pass

def run(full):
    for step in prepare(Registry(models), None, RequestHandle("test"), model):
        if full and step.sentence.startswith(full) and not filler.exists():
            fill()

for full in ("Importing", "Packing"):
    try:
        run(full)
    except DiskFull as error:
        left = [path.name for path in models.rglob("*")]
        print(error.sentence, left)
    filler.unlink(missing_ok=True)
run("")
print([entry.name for entry in Registry(models).entries()])
"""


@linux_root
@pytest.mark.slow
def test_a_disk_that_fills_up_while_the_bundled_model_is_imported_is_told_and_nothing_is_left(
    loquat_home: Paths, tiny_model: Callable[..., Path], tmp_path: Path
) -> None:
    from tests.engine.models.gguf_files import write_gguf

    source = tiny_model("llama", hidden_size=256, intermediate_size=1024, num_hidden_layers=4)
    (tmp_path / "bundle").mkdir()
    file = write_gguf(source, tmp_path / "bundle" / "tiny.gguf")
    disk, models = small_disk(loquat_home.data, "110m"), loquat_home.models
    command = shlex.join([sys.executable, "-c", IMPORT, str(file), str(models)])
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", f"{disk}; {command}"],
        env={**os.environ, "LOQUAT_BUNDLED_MODELS": str(file.parent), "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    *failures, last = done.stdout.splitlines()
    assert len(failures) == 2 and last == "['tiny']"
    for line in failures:
        assert line.startswith("The disk is full: there was no room to import the model in ")
        assert line.endswith(" []"), "nothing half-done is left"


# -- two users ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def users() -> Iterator[dict[int, Path]]:
    """Two users without names, each with a home of their own."""
    root = Path(tempfile.mkdtemp(prefix="loquat-users-"))
    root.chmod(0o755)
    homes = {uid: root / str(uid) for uid in (54_321, 54_322)}
    for uid, home in homes.items():
        home.mkdir(mode=0o700)
        os.chown(home, uid, uid)
    yield homes
    shutil.rmtree(root)


@linux_root
@pytest.mark.slow
def test_two_users_at_once_have_a_window_each(users: dict[int, Path]) -> None:
    python = python_for(next(iter(users)))
    children = {uid: as_user(python, uid, home, "--stay") for uid, home in users.items()}
    try:
        for child in children.values():
            assert next_line(child) == {"started": []}
        (first, first_home), (second, _) = users.items()
        later = as_user(python, first, first_home, "--model", "again")
        assert later.communicate(timeout=30) == ("", "")
        assert later.returncode == 0
        assert next_line(children[first]) == {"again": "again"}, "it is told to the window of the same user"
        children[second].send_signal(signal.SIGTERM)
        assert children[second].communicate(timeout=30)[0] == "", "and to nobody else"
    finally:
        for child in children.values():
            child.kill()
            child.communicate()
    for uid, home in users.items():
        assert {path.stat().st_uid for path in home.rglob("*")} == {uid}


def python_for(uid: int) -> str:
    """A Python that another user may run, and that finds what is installed for this one."""
    for python in (sys.executable, f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"):
        try:
            done = subprocess.run([python, "-c", "import PySide6"], env=found_by(), user=uid, cwd="/", check=False)
        except OSError:
            continue
        if done.returncode == 0:
            return python
    pytest.skip("other users may not run this Python")


def found_by() -> dict[str, str]:
    """An environment in which a Python of any place finds Loquat and what it needs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "LOQUAT_"))}
    places = [str(ROOT), sysconfig.get_path("platlib")]
    return {**kept, "PYTHONPATH": os.pathsep.join(places), "PYTHONDONTWRITEBYTECODE": "1"}


def as_user(python: str, uid: int, home: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [python, *PROGRAM[1:], *arguments],
        cwd=ROOT,
        env={**found_by(), "HOME": str(home)},
        user=uid,
        group=uid,
        extra_groups=[],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def next_line(child: subprocess.Popen[str]) -> dict[str, Any]:
    assert child.stdout is not None
    line = child.stdout.readline()
    assert line, child.communicate()[1]
    found: dict[str, Any] = json.loads(line)
    return found


# -- what other versions left ------------------------------------------------------------------------------------------

QUESTION, ANSWER = "Was gibt es Neues?", "Die Antwort der alten Fassung: **fett** und 枇杷."


def old_home(home: Paths, steps: int) -> None:
    """A home as a version wrote it whose database had so many steps."""
    home.data.mkdir(parents=True)
    home.config.mkdir()
    db = sqlite3.connect(home.database)
    db.create_function("segment", 1, segment, deterministic=True)
    migrate(db, migrations.STEPS[:steps])
    db.execute(
        "INSERT INTO conversation (id, title, created_at, updated_at, started_on, system_prompt)"
        " VALUES ('c', 'Mein Titel', 1.7e9, 1.7e9, '2023-11-14', 'Sei kurz.')"
    )
    row = "INSERT INTO message (id, conversation_id, parent_id, role, content, status, model, created_at)"
    db.execute(f"{row} VALUES ('q', 'c', NULL, 'user', ?, 'complete', '', 1.7e9)", (QUESTION,))
    db.execute(f"{row} VALUES ('a', 'c', 'q', 'assistant', ?, 'complete', 'old', 1.7e9)", (ANSWER,))
    db.execute("UPDATE conversation SET leaf_id = 'a'")
    db.commit()
    db.close()
    (home.config / "settings.json").write_text('{"theme": "dark", "a_setting_that_is_gone": 7}')
    model = {
        "format": FORMAT,
        "name": "old",
        "label": "Old model",
        "architecture": "llama",
        "parameters": 1,
        "nbytes": 10,
        "source": "old.gguf",
        "source_sha256": "",
        "created": "2026-01-01T00:00:00+00:00",
    }
    (home.models / "old").mkdir(parents=True)
    (home.models / "old" / MANIFEST).write_text(json.dumps(model))


@pytest.mark.parametrize("steps", range(1, len(migrations.STEPS) + 1))
def test_the_data_of_every_older_version_are_all_there(
    open_window: Callable[..., Desktop], loquat_home: Paths, qtbot: Any, steps: int
) -> None:
    old_home(loquat_home, steps)
    desktop = open_window()
    assert said(desktop) == []
    session = desktop.chats.current
    assert session is not None
    assert (session.conversation.title, session.conversation.system_prompt) == ("Mein Titel", "Sei kurz.")
    assert [message.content for message in session.messages()] == [QUESTION, ANSWER]
    assert desktop.settings.get("theme") == "dark"
    ask(desktop, qtbot, "Und weiter?")
    shut(desktop)
    assert answers(loquat_home) == [("complete", ANSWER), ("complete", "You said: Und weiter?")]
    assert json.loads((loquat_home.config / "settings.json").read_text())["a_setting_that_is_gone"] == 7
    assert [entry.label for entry in Registry(loquat_home.models).entries()] == ["Old model"]


def test_the_settings_and_models_of_a_newer_version_stay_as_they_are(
    open_window: Callable[..., Desktop], loquat_home: Paths, qtbot: Any
) -> None:
    loquat_home.config.mkdir(parents=True)
    settings = loquat_home.config / "settings.json"
    settings.write_text('{"theme": "dark", "telepathy": {"range_km": 3}}')
    manifest = loquat_home.models / DEFAULT_MODEL.name / MANIFEST
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"format": FORMAT + 1, "name": DEFAULT_MODEL.name, "qubits": 12}))
    before = manifest.read_bytes()
    desktop = open_window()
    desktop.settings.set("theme", "light")
    ask(desktop, qtbot)
    qtbot.waitUntil(lambda: answers(loquat_home) != [], timeout=PATIENCE_MS)
    shut(desktop)
    assert json.loads(settings.read_text()) | {"theme": "light", "telepathy": {"range_km": 3}} == json.loads(
        settings.read_text()
    )
    assert manifest.read_bytes() == before
