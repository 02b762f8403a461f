"""The model dialog in the window, with keys and clicks; the commands behind it are real child processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.views.dialogs import ConfirmDialog, LinkDialog
from app.views.models.rename_dialog import RenameDialog
from engine.events import InstalledModel
from engine.models.choices import AdapterChoice
from tests.app.views.models.conftest import QWEN
from tests.pictures.model_scenes import FAR, FOUND, GATED

LLAMA = "llama-3.2-3b"


def test_what_is_here_and_what_could_be_had_is_shown_with_how_it_would_go_here(opened: Any) -> None:
    it = opened()
    assert it.titles[:4] == ["On this machine", "Scripted scripted", "Another model", "Catalogue"]
    assert it.dialog.list.current_id == "installed:scripted", "the one that answers"
    it.dialog.pick(f"offer:{QWEN}")
    assert it.dialog.details.title == "Qwen2.5 1.5B Instruct"
    assert [button.text() for button in it.dialog.details.formats.buttons] == [
        "4-bit (recommended)",
        "8-bit",
        "As published, not quantised",
    ]
    assert it.facts["On this machine"] == "Fits"
    assert it.facts["Speed"].startswith("about 10.6 tok/s")
    assert it.facts["Disk"] == "1.6 GB, of which 847 MB are downloaded"
    assert it.facts["Languages"].startswith("English, Chinese") and "29 in all" in it.facts["Languages"]
    it.dialog.details.formats.buttons[1].click()
    assert it.facts["Speed"].startswith("about 5.3 tok/s"), "of the format that is chosen"
    it.dialog.pick("offer:qwen2.5-14b")
    assert it.facts["On this machine"] == "Does not fit: needs 9.5 GB, 6.0 GB are free"
    assert sorted(call[0] for call in it.commands.calls) == ["catalogue", "downloads"], "nothing goes online by itself"


def test_a_download_is_followed_to_a_model_that_can_be_loaded(opened: Any, qtbot: Any) -> None:
    it = opened(get=[FAR, {"wait": "go"}, {"event": "done", "name": QWEN}])
    it.dialog.pick(f"offer:{QWEN}")
    it.press("get")
    qtbot.waitUntil(lambda: it.dialog.details.progress == "312 MB of 986 MB · 5 MB/s · 2 min left")
    assert it.commands.calls[-1] == ["get", QWEN, "--weights", "int4", "--json"]
    assert it.dialog.list.current_id == f"task:{QWEN}"
    assert it.shown == {"pause", "cancel"}
    assert f"offer:{QWEN}" not in [row.id for row in it.dialog.list.rows], "it is listed once"
    it.world.worker.models.append(InstalledModel(QWEN, "Qwen2.5 1.5B Instruct", 1_540_000_000, 847_000_000, False))
    it.commands.go_on("go")
    qtbot.waitUntil(lambda: it.dialog.list.current_id == f"installed:{QWEN}")
    assert "Downloading" not in it.titles
    assert it.world.worker.loaded == [None], "who chats is not taken away"
    it.press("load")
    assert it.world.worker.loaded == [None, QWEN]


def test_downloads_wait_for_each_other_and_can_be_paused_resumed_and_given_up(opened: Any, qtbot: Any) -> None:
    left = {"name": "owner/left", "label": "Left", "done": 5_000_000, "total": 10_000_000}
    it = opened(get=[FAR, {"wait": "go"}, {"event": "done", "name": "x"}], downloads=[{"downloads": [left]}])
    tasks = it.world.parts.shelf.queue
    assert [(task.label, task.state) for task in tasks.tasks] == [("Left", "paused")], "of an earlier run"
    for name in (QWEN, "smollm2-360m"):
        it.dialog.pick(f"offer:{name}")
        it.press("get")
    qtbot.waitUntil(lambda: tasks.running is not None and bool(tasks.running.progress.done))
    assert [task.state for task in tasks.tasks] == ["paused", "running", "waiting"]
    it.dialog.pick(f"task:{QWEN}")
    it.press("pause")
    qtbot.waitUntil(lambda: [task.state for task in tasks.tasks] == ["paused", "paused", "running"])
    assert "Paused" in it.dialog.details.progress
    it.press("resume")
    assert tasks.get(QWEN).state == "waiting"
    it.dialog.pick("task:smollm2-360m")
    it.press("cancel")
    qtbot.waitUntil(lambda: ["forget", "smollm2-360m", "--json"] in it.commands.calls)
    qtbot.waitUntil(lambda: tasks.running is not None and tasks.running.id == QWEN)
    it.dialog.pick("task:owner/left")
    it.press("cancel")
    qtbot.waitUntil(lambda: ["forget", "owner/left", "--json"] in it.commands.calls)
    assert [task.id for task in tasks.tasks] == [QWEN]


def test_a_licence_is_accepted_before_a_download(opened: Any, qtbot: Any) -> None:
    it = opened()
    it.dialog.pick(f"offer:{LLAMA}")
    terms = it.dialog.details.terms
    assert not it.dialog.details.buttons["get"].isEnabled()
    QTest.mouseClick(terms.link_button, Qt.MouseButton.LeftButton)
    link = it.window.findChild(LinkDialog)
    assert link.address_field.toPlainText() == "https://www.llama.com/llama3_2/license/"
    link.reject()
    terms.accept_box.setFocus()
    QTest.keyClick(terms.accept_box, Qt.Key.Key_Space)
    it.press("get")
    qtbot.waitUntil(lambda: len(it.commands.calls) > 2)
    assert it.commands.calls[2] == ["get", LLAMA, "--weights", "int4", "--accept-licence", "--json"]
    it.dialog.pick(f"offer:{QWEN}")
    assert it.dialog.details.buttons["get"].isEnabled() and terms.accept_box.isHidden()


def test_a_licence_that_only_the_hub_knows_of_is_asked_for_then(opened: Any, qtbot: Any) -> None:
    sentence = "Please read the licence of the model, and accept it."
    it = opened(get=[{"event": "failed", "kind": "licence", "sentence": sentence}, {"exit": 2}])
    it.dialog.pick(f"offer:{QWEN}")
    it.press("get")
    qtbot.waitUntil(lambda: it.dialog.said == sentence)
    assert not it.dialog.details.buttons["resume"].isEnabled()
    it.dialog.details.terms.accept_box.click()
    it.press("resume")
    qtbot.waitUntil(lambda: it.commands.calls[-1] == ["get", QWEN, "--weights", "int4", "--accept-licence", "--json"])


@pytest.mark.parametrize("keyring", [True, False])
def test_a_model_that_is_not_given_to_everybody_asks_for_a_token(opened: Any, qtbot: Any, keyring: bool) -> None:
    it = opened(get=[GATED, {"exit": 2}])
    if not keyring:
        it.world.bridge.keys._backend.set_password = None  # any failure of a keyring
    it.dialog.pick(f"offer:{LLAMA}")
    it.dialog.details.terms.accept_box.click()
    it.press("get")
    terms = it.dialog.details.terms
    qtbot.waitUntil(terms.token_field.isVisible)
    assert it.dialog.said.startswith("Llama 3.2 3B is given only to those")
    assert terms.page == "https://huggingface.co/meta-llama/Llama-3.2-3B-Instruct"
    it.commands.say("get", FAR, {"wait": "go"})
    QTest.keyClicks(terms.token_field, "hf_secret")
    QTest.keyClick(terms.token_field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: it.dialog.details.progress.startswith("312 MB"))
    held = it.world.bridge.keys._backend.held
    assert (list(held.values()), it.commands.token) == ((["hf_secret"], "") if keyring else ([], "hf_secret"))
    assert all("hf_secret" not in argument for call in it.commands.calls for argument in call)
    assert it.commands.calls[-1][:2] == ["get", LLAMA] and "--accept-licence" in it.commands.calls[-1]


def test_the_hub_is_asked_when_the_person_says_so(opened: Any, qtbot: Any) -> None:
    it = opened(search=[FOUND])
    QTest.keyClicks(it.dialog.search_field, "coder")
    assert it.titles == ["On the hub", "Search Hugging Face for “coder”"]
    assert "network" in it.dialog.list.rows[-1].detail
    assert not [call for call in it.commands.calls if call[0] == "search"]
    assert it.shown == {"ask"} and it.dialog.details.title == "Search Hugging Face for “coder”"
    QTest.keyClick(it.dialog.search_field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "Qwen2.5-Coder-1.5B-Instruct-GGUF" in it.titles)
    assert it.commands.calls[-1] == ["search", "--json", "--", "coder"], "also what begins like an option"
    it.dialog.list.pick("found:bartowski/Qwen2.5-Coder-1.5B-Instruct-GGUF")
    assert it.shown == {"look_up", "page"}, "what it takes is not known yet"
    variants = [{"name": name, "file": f"{name}.gguf", "nbytes": 9 * 10**8} for name in ("Q8_0", "Q4_K_M")]
    repo = {"repo": "bartowski/Qwen2.5-Coder-1.5B-Instruct-GGUF", "chosen": {"variant": "Q4_K_M"}, "variants": variants}
    it.commands.say("show", {"models": [repo]})
    it.press("look_up")
    qtbot.waitUntil(lambda: "get" in it.shown)
    assert [button.text() for button in it.dialog.details.formats.buttons] == ["Q8_0", "Q4_K_M (recommended)"]
    it.dialog.details.formats.buttons[0].click()
    it.press("get")
    qtbot.waitUntil(lambda: it.commands.calls[-1][0] == "get")
    assert it.commands.calls[-1] == ["get", "bartowski/Qwen2.5-Coder-1.5B-Instruct-GGUF:Q8_0", "--json"]


def test_a_repository_is_typed_by_hand_and_its_refusal_is_said(opened: Any, qtbot: Any) -> None:
    failed = {"event": "failed", "kind": "not_found", "sentence": "There is no such repository."}
    it = opened(show=[failed, {"exit": 2}])
    QTest.keyClicks(it.dialog.search_field, "owner/name")
    assert it.titles == ["On the hub", "Look up owner/name"]
    QTest.keyClick(it.dialog.search_field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "There is no such repository." in it.titles)
    assert "Look up owner/name" in it.titles, "it can be tried again"
    it.commands.say("show", {"models": [{"repo": "owner/name", "problem": "It holds no weights.", "chosen": None}]})
    it.dialog.pick("look:owner/name")
    it.press("ask")
    qtbot.waitUntil(lambda: it.dialog.list.current_id == "found:owner/name")
    assert it.dialog.said == "It holds no weights."
    assert it.shown == {"page"}


def test_an_adapter_of_the_hub_is_added_to_the_model_that_answers(opened: Any, qtbot: Any) -> None:
    found = {
        "repo": "owner/pirate-lora",
        "label": "owner/pirate-lora",
        "chosen": {"kind": "adapter", "nbytes": 9_000_000},
    }
    it = opened(show=[{"models": [found]}], get=[{"event": "done", "name": "scripted"}])
    QTest.keyClicks(it.dialog.search_field, "owner/pirate-lora")
    QTest.keyClick(it.dialog.search_field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: it.dialog.list.current_id == "found:owner/pirate-lora")
    assert it.dialog.details.title == "pirate-lora"
    assert it.dialog.details.buttons["get"].text() == "Download, 9 MB"
    it.press("get")
    qtbot.waitUntil(lambda: it.dialog.list.current_id == "installed:scripted")
    assert it.commands.calls[-1] == ["get", "owner/pirate-lora", "--for", "scripted", "--json"]
    assert it.dialog.said == "This takes effect when the model is loaded again."
    it.press("reload")
    qtbot.waitUntil(lambda: it.world.worker.loaded == [None, "scripted"])


def test_a_download_goes_on_when_the_dialog_is_closed_and_what_fails_is_said_in_a_notice(
    opened: Any, qtbot: Any
) -> None:
    failed = {"event": "failed", "kind": "network", "sentence": "The hub could not be reached.", "detail": "dns"}
    it = opened(get=[FAR, {"wait": "go"}, failed, {"exit": 2}])
    it.dialog.pick(f"offer:{QWEN}")
    it.press("get")
    QTest.mouseClick(it.dialog.close_button, Qt.MouseButton.LeftButton)
    card = it.window.fetching
    qtbot.waitUntil(lambda: card.isVisible() and "312 MB of 986 MB" in card.detail)
    assert card.sentence == "Downloading Qwen2.5 1.5B Instruct"
    it.commands.go_on("go")
    qtbot.waitUntil(lambda: [notice.sentence for notice in it.world.notices] == ["The hub could not be reached."])
    assert not card.isVisible()
    it.world.notices[0].action()
    dialog = it.world.conductor.providing.dialog
    assert dialog.list.current_id == f"task:{QWEN}"
    assert dialog.said == "The hub could not be reached."


def test_the_card_in_the_window_pauses_a_download(opened: Any, qtbot: Any) -> None:
    it = opened(get=[FAR, {"wait": "never"}])
    it.dialog.pick(f"offer:{QWEN}")
    it.press("get")
    it.dialog.accept()
    qtbot.waitUntil(it.window.fetching.isVisible)
    QTest.mouseClick(it.window.fetching.cancel_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: [task.state for task in it.world.parts.shelf.queue.tasks] == ["paused"])
    assert not it.window.fetching.isVisible()


def test_the_loaded_model_can_be_deleted_and_the_question_says_so(opened: Any, qtbot: Any) -> None:
    it = opened()
    it.press("delete")
    question = it.dialog.findChild(ConfirmDialog)
    assert question.sentence.startswith("It is loaded; its memory is given back first. Up to 93 MB of disk are freed.")
    QTest.mouseClick(question.confirm_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: [model.name for model in it.world.chats.models.models] == ["other"])
    assert it.world.chats.model.phase == "none"
    assert it.dialog.list.current_id == "installed:other"


def test_a_model_is_renamed_and_made_the_default(opened: Any, qtbot: Any) -> None:
    it = opened()
    it.dialog.pick("installed:other")
    it.press("rename")
    asked = it.dialog.findChild(RenameDialog)
    QTest.keyClicks(asked.field, "My own")
    QTest.keyClick(asked.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: it.dialog.details.title == "My own")
    it.press("default")
    qtbot.waitUntil(lambda: "default" not in it.shown)
    assert [model.name for model in it.world.chats.models.models if model.default] == ["other"]


def test_adapters_a_draft_model_and_a_check(opened: Any, qtbot: Any, tmp_path: Path) -> None:
    it = opened(check=[{"event": "done", "sentences": ["The template is stable.", "It takes no system message."]}])
    it.world.worker.models[1] = InstalledModel(
        "other", "Another model", 7, 9, False, adapters=(AdapterChoice("pirate"),), draft="scripted"
    )
    it.world.chats.models.refresh()
    it.dialog.pick("installed:other")
    own = it.dialog.details.own
    qtbot.waitUntil(lambda: [box.text() for box in own.adapter_boxes] == ["pirate"])
    assert own.draft_button.text() == "Scripted scripted"
    own.adapter_boxes[0].click()
    qtbot.waitUntil(lambda: ["adapter", "off", "other", "pirate"] in it.commands.calls)
    next(action for action in own.draft_button.menu_of_choices().actions() if action.text() == "None").trigger()
    qtbot.waitUntil(lambda: ["draft", "other", "none"] in it.commands.calls)
    it.press("check")
    qtbot.waitUntil(lambda: it.dialog.said == "The template is stable.\nIt takes no system message.")
    it.commands.say("adapter", {"error": "The adapter was made for another model."}, {"exit": 2})
    (tmp_path / "adapter_config.json").write_text("{}")
    drop(it.dialog, tmp_path)
    qtbot.waitUntil(lambda: it.dialog.said == "The adapter was made for another model.")
    assert ["adapter", "add", "other", str(tmp_path)] in it.commands.calls


def test_an_adapter_that_is_refused_is_not_shown_as_switched_on(opened: Any, qtbot: Any) -> None:
    sentence = "The adapter was made for another model."
    it = opened(adapter=[{"error": sentence}, {"exit": 2}])
    it.world.worker.models[1] = InstalledModel(
        "other", "Salt & pepper", 7, 9, False, adapters=(AdapterChoice("this & that", on=False),)
    )
    it.world.chats.models.refresh()
    it.dialog.pick("installed:other")
    own = it.dialog.details.own
    qtbot.waitUntil(lambda: [box.text() for box in own.adapter_boxes] == ["this && that"])
    own.adapter_boxes[0].click()
    qtbot.waitUntil(lambda: it.dialog.said == sentence)
    assert ["adapter", "on", "other", "this & that"] in it.commands.calls
    assert not own.adapter_boxes[0].isChecked()
    own.adapter_boxes[0].click()
    it.world.parts.shelf.changed.emit(it.world.parts.shelf.shelf)  # a download goes on meanwhile
    assert own.adapter_boxes[0].isChecked(), "what is wanted stays until it is refused again"
    qtbot.waitUntil(lambda: not own.adapter_boxes[0].isChecked())
    it.dialog.pick("installed:scripted")
    labels = [action.text() for action in own.draft_button.menu_of_choices().actions()]
    assert labels == ["None", "Salt && pepper"], "a menu takes one of them for the mark of a key"
    qtbot.waitUntil(lambda: not it.world.parts.shelf.jobs._jobs)


def test_model_files_and_folders_are_imported_by_dropping_them(opened: Any, qtbot: Any, tmp_path: Path) -> None:
    it = opened(add=[{"event": "done", "name": "other"}])
    folder = tmp_path / "ein Ordner ü"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("no model")
    drop(it.dialog, tmp_path / "a.gguf", folder)
    qtbot.waitUntil(lambda: it.world.worker.loaded == [None, "other", "other"])
    added = [call[1] for call in it.commands.calls if call[0] == "add"]
    assert added == [str(tmp_path / "a.gguf"), str(folder)]
    it.commands.say("add", FAR, {"wait": "never"})
    drop(it.dialog, tmp_path / "notes.txt")
    sentence = "notes.txt is no model. Please drop a GGUF file or a model's folder."
    qtbot.waitUntil(lambda: it.dialog.said == sentence)


def drop(on: QWidget, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    on.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, buttons, keys))


def test_all_can_be_done_with_the_keyboard_and_has_a_name(opened: Any, qtbot: Any) -> None:
    it = opened(get=[FAR, {"wait": "never"}])
    assert it.dialog.search_field.hasFocus()
    QTest.keyClicks(it.dialog.search_field, "qwen")
    QTest.keyClick(it.dialog.search_field, Qt.Key.Key_Down)
    QTest.keyClick(it.dialog.search_field, Qt.Key.Key_Up)
    assert it.dialog.list.current_id == f"offer:{QWEN}"
    QTest.keyClick(it.dialog.search_field, Qt.Key.Key_Return)
    assert QApplication.focusWidget() is it.dialog.details.buttons["get"]
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: it.dialog.list.current_id == f"task:{QWEN}")
    buttons = [each for each in it.dialog.findChildren(QAbstractButton) if each.isVisible()]
    assert all(each.text() or each.accessibleName() for each in buttons)
    QTest.keyClick(it.dialog.search_field, Qt.Key.Key_Escape)
    assert it.dialog.search_field.text() == "" and it.dialog.isVisible()
    QTest.keyClick(it.dialog.search_field, Qt.Key.Key_Escape)
    assert not it.dialog.isVisible()


def test_it_has_room_in_a_narrow_window(opened: Any) -> None:
    it = opened()
    it.dialog.resize(600, 700)
    for row in ("installed:other", f"offer:{LLAMA}", "offer:qwen2.5-14b"):
        it.dialog.pick(row)
        QApplication.processEvents()
        page = it.dialog.details._area.widget()
        assert page.width() <= it.dialog.details._area.viewport().width()
        for button in it.dialog.details.buttons.values():
            if button.isVisible():
                assert button.geometry().right() <= it.dialog.details.width()


def test_a_catalogue_that_cannot_be_had_is_said(make_window: Any, qtbot: Any) -> None:
    window, world = make_window()
    world.commands.say("catalogue", {"event": "failed", "kind": "other", "sentence": "It is damaged."}, {"exit": 2})
    window.header.models_requested.emit()
    dialog = world.conductor.providing.dialog
    qtbot.waitUntil(lambda: "It is damaged." in [row.label for row in dialog.list.rows])


def test_the_program_ends_its_commands(opened: Any, qtbot: Any) -> None:
    it = opened(get=[FAR, {"wait": "never"}])
    it.dialog.pick(f"offer:{QWEN}")
    it.press("get")
    qtbot.waitUntil(lambda: bool(it.dialog.details.progress))
    process = it.world.parts.shelf.jobs._jobs[0]._process
    it.world.parts.shelf.close()
    assert process.state() == process.ProcessState.NotRunning
