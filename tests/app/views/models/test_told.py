"""What the model dialog says is true: headings, what was here already, percentages, marks and sentences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.events import InstalledModel

HERE = {"event": "done", "name": "other", "label": "Another model", "already": True}
SAID = "This is Another model, which is here already."


def test_a_file_whose_model_is_here_already_is_said_to_be_it_and_the_model_loaded(opened: Any, qtbot: Any) -> None:
    it = opened(add=[HERE])
    it.world.conductor.providing.add(Path("/somewhere/copy of it.gguf"))
    qtbot.waitUntil(lambda: it.dialog.said == SAID)
    assert it.dialog.list.current_id == "installed:other"
    qtbot.waitUntil(lambda: it.world.worker.loaded == [None, "other"])
    qtbot.waitUntil(lambda: it.world.parts.shelf.shelf.loaded == "other")
    it.dialog.accept()
    it.world.conductor.providing.add(Path("/somewhere/copy of it.gguf"))
    qtbot.waitUntil(lambda: [notice.sentence for notice in it.world.notices] == [SAID])
    assert it.world.worker.loaded == [None, "other"], "the one that answers is not loaded once more"


def test_headings_tell_imports_from_downloads_and_servers_from_this_machine(opened: Any, qtbot: Any) -> None:
    damaged = {"event": "failed", "kind": "damaged", "sentence": "It is damaged."}
    it = opened(add=[{"event": "progress", "stage": "import", "done": 0, "total": 0}, {"wait": "go"}, damaged])
    remote = InstalledModel("box/m", "Remote", 0, 0, False, server="http://box:8000")
    it.world.worker.models.append(remote)
    it.world.chats.models.refresh()
    it.world.conductor.providing.add(Path("/somewhere/damaged.gguf"))
    qtbot.waitUntil(lambda: "On servers" in it.titles and "Being added" in it.titles)
    here, servers, going = (it.titles.index(name) for name in ("On this machine", "On servers", "Being added"))
    assert (here, it.titles[servers + 1], it.titles[going + 1]) == (0, "Remote", "damaged.gguf")
    assert servers > it.titles.index("Another model")
    it.commands.say("add", damaged, {"exit": 2})
    it.commands.go_on("go")
    qtbot.waitUntil(lambda: "Could not be added" in it.titles)
    assert it.titles[it.titles.index("Could not be added") + 1] == "damaged.gguf"
    assert not {"Being added", "Downloading"} & set(it.titles)


def test_a_percentage_is_told_once(opened: Any, qtbot: Any) -> None:
    far = {"event": "progress", "stage": "import", "done": 82, "total": 100, "sentence": "Checking gem.gguf: 82 %"}
    it = opened(add=[far, {"wait": "never"}])
    it.world.conductor.providing.add(Path("/somewhere/gem.gguf"))
    qtbot.waitUntil(lambda: it.dialog.details.progress == "Checking gem.gguf: 82 %")


def test_of_what_a_check_found_only_what_is_wrong_is_a_warning_and_it_stays_when_the_model_is_renamed(
    opened: Any, qtbot: Any
) -> None:
    wrong, fine = "Its template breaks.", "A reply ends with </s>."
    found = {"sentence": wrong, "serious": True}
    it = opened(check=[{"event": "done", "sentences": [wrong, fine], "findings": [found]}, {"exit": 1}])
    it.dialog.pick("installed:other")
    it.press("check")
    qtbot.waitUntil(lambda: it.dialog.said == f"{wrong}\n{fine}")
    details = it.dialog.details
    tones = [(label.text(), label.property("tone")) for label in (details._sentence, details._rest)]
    assert tones[0] == (wrong, "warning") and tones[1][0] == fine and tones[1][1] != "warning"
    it.press("rename")
    assert it.dialog.said == f"{wrong}\n{fine}"


def test_a_default_model_that_is_loaded_is_marked_as_both_and_no_family_is_guessed(opened: Any, qtbot: Any) -> None:
    it = opened()
    it.world.worker.models[0] = replace(it.world.worker.models[0], default=True, architecture="gemma3_text")
    it.world.chats.models.refresh()
    qtbot.waitUntil(lambda: it.dialog.list.rows[1].hint == "Loaded · Default")
    assert "Family" not in it.facts


def test_without_a_file_manager_the_folder_is_said(opened: Any) -> None:
    it = opened()  # the platform of the tests has none
    it.dialog.pick("installed:other")
    it.press("reveal")
    assert it.dialog.said == "No file manager could be opened. The model lies here: /models/other"
