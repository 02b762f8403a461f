"""The dialog for a server, and the window around a model that is not on this machine."""

from __future__ import annotations

import contextlib
import dataclasses

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from app.live import LiveTurn, ModelState
from app.records import StoredMessage
from app.server_entry import ServerEntry, Tried
from app.turn import after
from app.views import turn_figures, words
from app.views.controls import Label, plain_tip
from app.views.figures import text_of
from app.views.server_dialog import ServerDialog
from app.views.status_bar import StatusBar, device_words, turn_groups
from engine.events import InstalledModel, LoadProgress, LoadStage
from engine.remote.engine import _info
from engine.remote.figures import Usage, remote_stats
from engine.remote.probe import Listed, Probe
from engine.remote.servers import RemoteServer
from tests.app.fake_worker import Load, model_info
from tests.engine.remote.scripted import MODEL, Scripted, running, says

SERVER = RemoteServer("gpu-box", "GPU box", "https://gpu.example/v1", ("org/big", "small"))
REMOTE = _info(SERVER, "org/big", Listed("org/big", 32_768), 0.1)
READY = ModelState("ready", REMOTE)


@pytest.fixture
def dialog(qtbot, theme):
    def make(server: RemoteServer | None = None) -> ServerDialog:
        made = ServerDialog(theme, server)
        qtbot.addWidget(made)
        made.open()
        return made

    return make


def shown_words(dialog: ServerDialog) -> str:
    return " ".join(label.text() for label in dialog.findChildren(Label) if label.isVisible())


def typed(dialog: ServerDialog, qtbot) -> ServerEntry:
    qtbot.keyClicks(dialog.name_field, "GPU box")
    qtbot.keyClicks(dialog.address_field, "https://gpu.example/v1")
    qtbot.keyClicks(dialog.key_field, "sk-1")
    return dialog.entry


def test_what_is_typed_goes_out(qtbot, dialog) -> None:
    made = dialog()
    assert not made.save_button.isEnabled() and not made.try_button.isEnabled()
    assert typed(made, qtbot) == ServerEntry("", "GPU box", "https://gpu.example/v1", "sk-1")
    assert made.key_field.echoMode() is QLineEdit.EchoMode.Password
    with qtbot.waitSignal(made.try_requested) as tried:
        qtbot.mouseClick(made.try_button, Qt.MouseButton.LeftButton)
    assert tried.args == [made.entry] and not made.try_button.isEnabled()
    with qtbot.waitSignal(made.save_requested) as saved:
        qtbot.mouseClick(made.save_button, Qt.MouseButton.LeftButton)
    assert saved.args == [made.entry]


def test_a_test_says_what_it_found_and_offers_the_models(qtbot, dialog) -> None:
    made = dialog()
    typed(made, qtbot)
    made.show_tried(Tried(Probe((Listed("a", 4096), Listed("b")), 0.123, "It is not encrypted.")))
    assert made.said == "It answers in 0.12 s. Models: 2.\nIt is not encrypted."
    assert [made.model_list.item(row).text() for row in range(2)] == ["a, 4,096 tokens", "b"]
    assert made.entry.models == ()
    made.model_list.item(1).setCheckState(Qt.CheckState.Checked)
    assert made.entry.models == ("b",)
    made.show_tried(Tried(None, "Nothing answers at gpu.example."))
    assert made.said == "Nothing answers at gpu.example." and made.try_button.isEnabled()
    assert made.entry.models == ("b",)


def test_what_a_test_found_is_not_said_of_another_address_or_key(qtbot, dialog) -> None:
    made = dialog()
    typed(made, qtbot)
    for field in (made.address_field, made.key_field):
        made.show_tried(Tried(Probe((Listed("a"),), 0.1)))
        qtbot.keyClicks(field, "x")
        assert "It answers" not in shown_words(made)
    qtbot.mouseClick(made.try_button, Qt.MouseButton.LeftButton)
    qtbot.keyClicks(made.key_field, "y")
    assert made.try_button.isEnabled()
    made.show_tried(Tried(Probe((Listed("a"),), 0.1)))  # of the key before
    assert "It answers" not in shown_words(made)
    qtbot.mouseClick(made.try_button, Qt.MouseButton.LeftButton)
    made.show_tried(Tried(Probe((Listed("a"),), 0.1)))
    assert "It answers" in shown_words(made)


def test_after_a_test_enter_keeps_the_server_or_the_address_is_mended(qtbot, dialog) -> None:
    made = dialog()
    typed(made, qtbot)
    qtbot.mouseClick(made.try_button, Qt.MouseButton.LeftButton)
    made.show_tried(Tried(None, "Nothing answers at gpu.example."))
    assert made.focusWidget() is made.address_field
    qtbot.mouseClick(made.try_button, Qt.MouseButton.LeftButton)
    made.show_tried(Tried(Probe((Listed("a"),), 0.1)))
    assert made.focusWidget() is made.save_button
    with qtbot.waitSignal(made.save_requested):
        qtbot.keyClick(made.save_button, Qt.Key.Key_Return)


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_a_chosen_model_has_a_tick(qtbot, dialog, theme, choice: str) -> None:
    theme.set_choice(choice)
    made = dialog()
    made.show_tried(Tried(Probe((Listed("a"), Listed("b")), 0.1)))
    boxes = []
    for row in range(2):
        made.model_list.item(row).setText("")
        made.model_list.item(row).setCheckState(Qt.CheckState(2 * row))
        place = made.model_list.visualItemRect(made.model_list.item(row))
        image = made.model_list.viewport().grab(place).toImage()
        boxes.append({image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())})
    fill, tick = (theme.color(token).name() for token in ("accent_fill", "on_accent"))
    assert fill in boxes[1] and tick in boxes[1]
    assert fill not in boxes[0] and (tick not in boxes[0] or choice == "light")


def test_the_only_model_is_chosen_without_a_click(dialog) -> None:
    made = dialog()
    made.show_tried(Tried(Probe((Listed("a"),), 0.1)))
    assert made.entry.models == ("a",)


def test_a_server_that_is_changed_keeps_its_key_and_its_models(qtbot, dialog) -> None:
    made = dialog(SERVER)
    assert made.entry == ServerEntry("gpu-box", SERVER.name, SERVER.base_url, None, SERVER.models)
    made.show_tried(Tried(Probe((Listed("small"), Listed("new")), 0.1)))
    assert made.entry.models == ("small",)
    qtbot.keyClicks(made.key_field, "x")
    assert made.entry.key == "x"
    qtbot.keyClick(made.key_field, Qt.Key.Key_Backspace)
    assert made.entry.key == ""
    with qtbot.waitSignal(made.remove_requested) as removed:
        qtbot.mouseClick(made.remove_button, Qt.MouseButton.LeftButton)
    assert removed.args == ["gpu-box"]


def test_the_words_say_where_the_text_goes() -> None:
    assert words.online(READY) == "Online. What you ask in any chat goes to gpu.example."
    assert words.online(ModelState("ready", model_info())) == ""
    assert text_of(device_words(READY)) == "Text goes to GPU box, gpu.example"
    assert words.phase(LiveTurn("prefill"), READY) == "Waiting for GPU box"
    assert words.phase(LiveTurn("prefill", note="GPU box is busy; asks again in 1 s"), READY).startswith(
        "GPU box is busy"
    )
    connecting = LoadProgress("1", LoadStage.CONNECT, 0, 0, "Asking")
    assert words.online(ModelState("working", model_info(), connecting)) == ""


def test_figures_that_a_server_does_not_report_are_called_so(qtbot, theme) -> None:
    stats = remote_stats("GPU box", Usage(), 1.0, 1.1, [1.5, 1.6])
    reply = StoredMessage("c", "assistant", "Yes.", model="gpu-box/org/big", stats=stats)
    shown = text_of(turn_figures.reply_figures(reply))
    assert shown == "by GPU box, TTFT 0.50 s, 10.0 pieces/s, reused tokens not reported"
    assert "10.0 pieces/s" in text_of(turn_groups(after(reply), READY))
    details = turn_figures.reply_details(reply)
    assert "Answered by GPU box, not on this machine" in details
    assert "10.0 pieces of text a second" in details
    assert "Prompt: (not reported) tokens, (not reported) from the server's cache" in details
    bar = StatusBar(theme)
    qtbot.addWidget(bar)
    bar.resize(1600, 32)
    bar.show_model(ModelState("ready", dataclasses.replace(REMOTE, context_limit=0)))
    assert "Context not reported" in bar.text and bar.context_bar.isHidden()


def test_figures_that_a_server_reports_are_shown() -> None:
    stats = remote_stats("GPU box", Usage(30, 20, 2), 1.0, 1.1, [1.5, 1.6])
    reply = StoredMessage("c", "assistant", "Yes.", model="gpu-box/org/big", stats=stats)
    assert text_of(turn_figures.reply_figures(reply)) == "by GPU box, TTFT 0.50 s, 10.0 tok/s, 20 reused + 10 new"


def menu_texts(window) -> list[str]:
    return [action.text() for action in window.header.model_menu().actions() if not action.isSeparator()]


def test_the_window_says_that_a_model_is_on_a_server(qtbot, make_window) -> None:
    window, world = make_window(loads=(Load(REMOTE),))
    world.worker.models.append(InstalledModel("gpu-box/org/big", "org/big", 0, 0, False, "GPU box"))
    world.chats.models.refresh()
    qtbot.waitUntil(lambda: len(world.chats.models.models) == 2)
    assert window.header.chip.words == "GPU box: big"
    texts = menu_texts(window)
    assert "Runs on GPU box. What you write goes to gpu.example." in texts
    assert "org/big\ton GPU box" in texts and "Remove org/big…" not in texts and "Add a server…" in texts
    assert "gpu.example" in window.status.text


def test_nothing_is_said_of_the_network_before_a_server_is_added(make_window) -> None:
    window, _ = make_window()
    assert "Add a server…" in menu_texts(window)
    assert not [text for text in menu_texts(window) if text.startswith("Change ")]


def test_a_server_is_added_in_the_window_and_its_model_chosen(qtbot, make_window) -> None:
    with contextlib.ExitStack() as stack:
        scripted = stack.enter_context(running(Scripted([says("Yes.")])))
        window, world = make_window()
        connecting = world.conductor.connecting
        window.header.server_requested.emit("")
        dialog = connecting.dialog
        qtbot.keyClicks(dialog.name_field, "GPU box")
        qtbot.keyClicks(dialog.address_field, scripted.server.base_url)
        qtbot.mouseClick(dialog.try_button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: dialog.entry.models == (MODEL,))
        qtbot.mouseClick(dialog.save_button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: world.worker.loaded[-1] == f"gpu-box/{MODEL}")
        assert connecting.dialog is None
        assert "Change GPU box…" in menu_texts(window)


def test_a_removed_server_is_no_longer_used(qtbot, make_window) -> None:
    window, world = make_window(loads=(Load(REMOTE),))
    servers = world.parts.servers
    with qtbot.waitSignal(servers.saved):
        servers.save(ServerEntry("", "GPU box", "https://gpu.example/v1", "", ("org/big",)))
    window.header.server_requested.emit("gpu-box")
    qtbot.mouseClick(world.conductor.connecting.dialog.remove_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: world.worker.loaded[-1] is None)
    assert servers.servers == ()


def test_a_draft_for_a_server_costs_nothing_that_is_known(qtbot, make_window) -> None:
    _, world = make_window(loads=(Load(REMOTE),))
    costs: list[object] = []
    world.chats.preview.connect(costs.append)
    world.chats.draft_changed("A question that is long enough to be looked at. " * 3)
    qtbot.waitUntil(lambda: bool(costs))
    assert set(costs) == {None} and world.worker.previews == []


def test_a_models_name_is_never_taken_for_html(qtbot, make_window) -> None:
    name = "<img src=secret.png>"
    window, _ = make_window(loads=(Load(_info(SERVER, name, None, 0.1)),))
    assert "&lt;img" in window.header.chip.toolTip() and "<br>" in window.header.chip.toolTip()
    stats = remote_stats("<b>box</b>", Usage(), 1.0, 1.1, [1.5])
    reply = StoredMessage("c", "assistant", "Yes.", model=name, stats=stats)
    assert "<img" not in plain_tip(turn_figures.reply_details(reply))
