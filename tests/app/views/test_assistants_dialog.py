"""Assistants are written, copied, deleted and brought back with real keys and clicks; a chat's own options are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QProxyStyle, QStyle

from app.assistants import SAMPLING, Assistant, Assistants, shipped_assistants
from app.records import ChatOptions
from app.settings import Settings
from app.theme import Theme
from app.views.assistants_dialog import AssistantsDialog
from app.views.chat_options_dialog import ChatOptionsDialog

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def assistants(qapp: Any, tmp_path: Path) -> Assistants:
    return Assistants(tmp_path / "assistants.json")


@pytest.fixture
def dialog(qtbot: Any, theme: Theme, assistants: Assistants) -> Any:
    made = AssistantsDialog(theme, assistants.all(), {"smollm2": "SmolLM2"})
    made.put.connect(assistants.put)
    made.removed.connect(assistants.remove)
    made.brought_back.connect(assistants.put)
    assistants.changed.connect(lambda: made.show_assistants(assistants.all()))
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    assistants.save()


def names(dialog: AssistantsDialog) -> list[str]:
    return [dialog.list.item(row).text() for row in range(dialog.list.count())]


def test_shipped_ones_are_shown_and_cannot_be_changed(dialog: AssistantsDialog, assistants: Assistants) -> None:
    assert names(dialog) == [assistant.name for assistant in shipped_assistants()]
    dialog.select("tutor")
    QTest.keyClicks(dialog.editor.prompt_field, "xyz")
    QTest.mouseClick(dialog.editor.icons[2], LEFT)
    assert not dialog.delete_button.isVisible()
    assert assistants.all() == shipped_assistants()


def test_a_copy_is_written_and_kept_as_it_is_typed(dialog: AssistantsDialog, assistants: Assistants) -> None:
    dialog.select("code")
    QTest.mouseClick(dialog.duplicate_button, LEFT)
    assert names(dialog)[-1] == "Code 2"
    assert dialog.editor.name_field.hasFocus()
    QTest.keyClicks(dialog.editor.name_field, "Python")
    QTest.keyClicks(dialog.editor.prompt_field, "!")
    QTest.mouseClick(dialog.editor.icons[6], LEFT)
    dialog.editor.model_field.changed.emit("smollm2")
    dialog.editor.manner_field.changed.emit("exact")
    own = assistants.all()[-1]
    assert (own.name, own.icon, own.model, own.builtin) == ("Python", "spark", "smollm2", False)
    assert own.system_prompt.startswith("!You are an experienced programmer")
    assert own.sampling["temperature"] == 0
    assert names(dialog)[-1] == "Python"
    assert dialog.editor.manner_field.text() == "Exact (greedy)"
    dialog.editor.manner_field.changed.emit("as_set")
    assert assistants.all()[-1].sampling == {}


def test_what_cannot_be_kept_is_said_and_the_last_form_stays(dialog: AssistantsDialog, assistants: Assistants) -> None:
    QTest.mouseClick(dialog.new_button, LEFT)
    QTest.keyClick(dialog.editor.name_field, Qt.Key.Key_Delete)
    assert dialog.editor.refusal == "An assistant needs a name."
    assert assistants.all()[-1].name == "New assistant"
    QTest.keyClicks(dialog.editor.name_field, "Koch")
    assert dialog.editor.refusal == ""
    assert assistants.all()[-1].name == "Koch"


def test_a_deleted_one_comes_back_to_its_place(dialog: AssistantsDialog, assistants: Assistants) -> None:
    for name in ("One", "Two"):
        assistants.put(Assistant(name.lower(), name))
    dialog.select("one")
    QTest.mouseClick(dialog.delete_button, LEFT)
    assert names(dialog)[-1] == "Two"
    assert "One" not in names(dialog)
    assert dialog.undo_text == "Deleted “One”."
    QTest.mouseClick(dialog.undo_button, LEFT)
    assert names(dialog)[-2:] == ["One", "Two"]
    assert dialog.editor.name_field.text() == "One"
    assert not dialog.undo_button.isVisible()


def test_a_chat_begins_with_the_one_that_is_chosen(dialog: AssistantsDialog, qtbot: Any) -> None:
    dialog.select("writing")
    with qtbot.waitSignal(dialog.chat_requested) as told:
        QTest.mouseClick(dialog.chat_button, LEFT)
    assert told.args == ["writing"]
    assert not dialog.isVisible()


class OneClick(QProxyStyle):
    """A desktop on which one click activates, as some are set."""

    def styleHint(self, hint: Any, *what: Any) -> int:
        return 1 if hint == QStyle.StyleHint.SH_ItemView_ActivateItemOnSingleClick else super().styleHint(hint, *what)


def test_one_click_chooses_and_does_not_begin_a_chat(dialog: AssistantsDialog, qtbot: Any) -> None:
    style = OneClick()
    dialog.list.setStyle(style)
    place = dialog.list.visualItemRect(dialog.list.item(2)).center()
    with qtbot.assertNotEmitted(dialog.chat_requested, wait=20):
        QTest.mouseClick(dialog.list.viewport(), LEFT, pos=place)
    assert dialog.editor.name_field.text() == names(dialog)[2]
    with qtbot.waitSignal(dialog.chat_requested):
        QTest.keyClick(dialog.list, Qt.Key.Key_Return)
    dialog.list.setStyle(None)


@pytest.fixture
def options_dialog(qtbot: Any, theme: Theme, tmp_path: Path) -> Any:
    def make(options: ChatOptions = ChatOptions(), prompt: str = "", **settings: Any) -> ChatOptionsDialog:  # noqa: B008
        held = Settings(tmp_path / "settings.json").for_chats() | settings
        made = ChatOptionsDialog(theme, options, prompt, assistants=shipped_assistants(), settings=held)
        qtbot.addWidget(made)
        with qtbot.waitExposed(made):
            made.show()
        return made

    return make


def kept(dialog: ChatOptionsDialog, qtbot: Any) -> tuple[ChatOptions, str]:
    with qtbot.waitSignal(dialog.chosen) as told:
        QTest.mouseClick(dialog.keep_button, LEFT)
    return told.args[0], told.args[1]


def test_an_assistant_sets_prompt_and_sampling(options_dialog: Any, qtbot: Any) -> None:
    dialog = options_dialog(prompt="Mine")
    dialog.row("assistant").field.changed.emit("translator")
    assert dialog.row("temperature").field.text() == "0.2"
    assert "translator" in dialog.row("system_prompt").field.toPlainText()
    options, prompt = kept(dialog, qtbot)
    assert options.assistant == "translator"
    assert options.sampling == {"temperature": 0.2, "top_p": 0.9}, "only what the settings do not say already"
    assert prompt == shipped_assistants()[2].system_prompt


def test_greedy_is_one_switch_and_goes_back(options_dialog: Any, qtbot: Any) -> None:
    dialog = options_dialog(ChatOptions("", {"seed": 7}))
    greedy = dialog.row("greedy").field
    QTest.mouseClick(greedy, LEFT)
    assert dialog.row("temperature").field.text() == "0"
    assert dialog.options.sampling["temperature"] == 0
    QTest.mouseClick(greedy, LEFT)
    assert dialog.options.sampling == {"seed": 7}
    dialog.row("temperature").changed.emit("temperature", 0)
    assert greedy.isChecked()
    options, _ = kept(dialog, qtbot)
    assert options.sampling == {"temperature": 0, "seed": 7}


def test_greedy_is_on_at_temperature_0_whatever_the_penalty_is(options_dialog: Any, qtbot: Any) -> None:
    dialog = options_dialog(temperature=0.0, repetition_penalty=1.1)
    names = ("assistant", "system_prompt", "greedy", *SAMPLING)
    assert dialog.row("greedy").field.isChecked()
    assert not any(dialog.row(name).reset_button.isVisible() for name in names)
    QTest.mouseClick(dialog.row("greedy").field, LEFT)
    assert dialog.row("greedy").reset_button.isVisible()
    assert kept(dialog, qtbot)[0].sampling == {"temperature": 0.7}


def test_each_value_goes_back_to_what_the_settings_say(options_dialog: Any, qtbot: Any) -> None:
    dialog = options_dialog(ChatOptions("", {"temperature": 1.5}), "Other", temperature=0.4, system_prompt="Set")
    assert dialog.row("temperature").reset_button.isVisible()
    dialog.row("temperature").reset_button.click()
    dialog.row("system_prompt").reset_button.click()
    assert not dialog.row("temperature").reset_button.isVisible()
    assert kept(dialog, qtbot) == (ChatOptions(), "Set")


def test_values_of_another_version_are_left_out(options_dialog: Any, qtbot: Any) -> None:
    dialog = options_dialog(ChatOptions("", {"temperature": 0.1, "mirostat": 2}))
    assert kept(dialog, qtbot)[0].sampling == {"temperature": 0.1}


def test_an_ampersand_in_a_name_is_seen(qtbot: Any, theme: Theme, tmp_path: Path) -> None:
    held, own = Settings(tmp_path / "settings.json").for_chats(), Assistant("own", "Q&A")
    dialog = ChatOptionsDialog(theme, ChatOptions("own"), "", assistants=(*shipped_assistants(), own), settings=held)
    qtbot.addWidget(dialog)
    field = dialog.row("assistant").field
    assert (field.text(), field.accessibleName()) == ("Q&&A", "Assistant: Q&A")
    assert field.menu_of_choices().actions()[-1].text() == "Q&&A"


def test_an_assistant_that_is_gone_is_the_plain_one_and_its_values_stay(options_dialog: Any, qtbot: Any) -> None:
    dialog = options_dialog(ChatOptions("gone", {"temperature": 0.1}), "Kept prompt")
    assert dialog.row("assistant").field.text() == "Plain"
    assert kept(dialog, qtbot) == (ChatOptions("", {"temperature": 0.1}), "Kept prompt")
