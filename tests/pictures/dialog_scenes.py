"""Scenes of a first start, of dialogs and menus, and of what stands on the desktop beside the window."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QScrollArea

from app.crash import CrashReport, environment
from app.i18n import translate
from app.live import LiveTurn, ModelState
from app.transfer.result import Skipped, TransferResult
from app.views.assistants_dialog import AssistantsDialog
from app.views.export_dialog import ExportDialog
from app.views.help_dialog import HelpDialog
from app.views.import_dialog import ImportDialog
from app.views.serve_dialog import ServeDialog
from app.views.settings_dialog import SettingsDialog
from app.views.start_cards import Offer
from engine.events import LoadProgress, LoadStage
from tests.app.fake_worker import Reply
from tests.pictures.examples import MODEL, PIECES, QUESTION
from tests.pictures.stage import Scene, Stage, settle, wait_for

OFFER: Final = Offer(MODEL.label, 98_362_432, 734_725_979)


def offer(stage: Stage) -> None:
    """The first start: what can be downloaded."""
    stage.window.start_page.show_offer(OFFER)
    stage.desktop.chats.model_changed.emit(ModelState("none"))


def download(stage: Stage) -> None:
    """The first start while the model is downloaded."""
    step = LoadProgress("load", LoadStage.DOWNLOAD, 37_300_000, 98_362_432, f"Downloading {MODEL.label}: 37 of 98 MB")
    stage.window.start_page.show_offer(OFFER)
    stage.desktop.chats.model_changed.emit(ModelState("working", step=replace(step, done=1_000_000)))
    time.sleep(1.0)  # the rate is taken over some time
    stage.desktop.chats.model_changed.emit(ModelState("working", step=step, sentence=step.sentence))


def failed(stage: Stage) -> None:
    """The first start with no way to the model."""
    stage.window.start_page.show_offer(OFFER)
    stage.desktop.chats.model_changed.emit(ModelState("failed", sentence="The model could not be downloaded."))


def first_ready(stage: Stage) -> None:
    """The first start with the model ready."""


def model_menu(stage: Stage) -> None:
    """The menu of the model chip."""
    wait_for(lambda: len(stage.desktop.chats.models.models) == 2)
    stage.window.header.chip.click()


def more_menu(stage: Stage) -> None:
    """What can be done with the conversation."""
    stage.window.header._more.click()


def settings(stage: Stage) -> None:
    """The settings, two of them changed, one of which waits for the model to be loaded again."""
    stage.run("settings")
    stage.desktop.settings.set("temperature", 0.2)
    stage.desktop.settings.set("threads", 1)


def settings_at(share: float) -> Scene:
    """The settings, further down."""

    def play(stage: Stage) -> None:
        settings(stage)
        settle()
        bar = stage.of(SettingsDialog).findChild(QScrollArea).verticalScrollBar()
        bar.setValue(round(share * bar.maximum()))

    return Scene(f"settings-{round(100 * share)}", play)


def settings_found(stage: Stage) -> None:
    """The settings that answer to a word."""
    stage.run("settings")
    stage.of(SettingsDialog).search_field.setText("o")
    stage.of(SettingsDialog).search_field.setText("font")


def assistants(stage: Stage) -> None:
    """All assistants."""
    stage.run("assistants")


def own_assistant(stage: Stage) -> None:
    """An assistant of one's own."""
    stage.run("assistants")
    dialog = stage.of(AssistantsDialog)
    dialog._duplicate()


def chat_options(stage: Stage) -> None:
    """What one conversation does otherwise."""
    stage.run("chat_options")


def export(stage: Stage) -> None:
    """Which conversations, and in what form."""
    stage.run("export_chat")


def exported(stage: Stage) -> None:
    """What was written."""
    stage.run("export_chat")
    stage.of(ExportDialog).show_result(TransferResult(Path.home() / "Documents" / "why-slow.md", count=1))


def importing(stage: Stage) -> None:
    """A file of conversations being read."""
    stage.run("import_chats")
    dialog = stage.of(ImportDialog)
    dialog.choose("/home/me/Downloads/conversations.json")
    dialog.show_progress(41_000_000, 96_000_000)


def imported(stage: Stage) -> None:
    """What was read, and what was not."""
    stage.run("import_chats")
    skipped = (
        Skipped("Holiday photos", translate("transfer", "This chat is empty.")),
        Skipped("Untitled", translate("transfer", "This is no chat that Loquat knows.")),
    )
    path = Path("/home/me/Downloads/conversations.json")
    stage.of(ImportDialog).show_result(TransferResult(path, 212, 4, skipped, 2))


def crash(stage: Stage) -> None:
    """The crash dialog."""
    trace = 'Traceback (most recent call last):\n  File "app/session.py", line 120, in apply\nValueError: an example\n'
    stage.desktop.show_crash(
        CrashReport(translate("crash", "Something went wrong inside Loquat."), environment(), trace, True)
    )


def link(stage: Stage) -> None:
    """The link dialog."""
    stage.window.chat.link_activated.emit("https://example.org/formats?from=loquat#gguf")


def folder(stage: Stage) -> None:
    """The name of a new folder."""
    stage.window.sidebar.ask_for_folder()


def removal(stage: Stage) -> None:
    """Before a model is deleted."""
    stage.desktop.conductor.providing.confirm_removal(stage.worker.models[0])


def server(stage: Stage) -> None:
    """A new server for models."""
    stage.run("add_server")


def serving(stage: Stage) -> None:
    """Other programs on this machine are answered."""
    stage.run("serve")
    stage.of(ServeDialog).show_state("http://127.0.0.1:8000/v1", "")


def help_page(stage: Stage) -> None:
    """The help, at the page on models."""
    stage.run("help")
    stage.of(HelpDialog).open_page("models")


def quick_ask(stage: Stage) -> None:
    """The small window, empty."""
    stage.desktop.presence.toggle_quick_ask()
    stage.subject = stage.desktop.presence.quick


def quick_answer(stage: Stage) -> None:
    """The small window with an answer."""
    quick_ask(stage)
    quick = stage.desktop.presence.quick
    quick.editor.insertPlainText(QUESTION)
    quick.button.click()
    wait_for(lambda: not quick.answer.isHidden())
    wait_for(lambda: stage.desktop.presence._session.live == LiveTurn() or not stage.desktop.presence._session.busy)
    settle(300)


def tray(stage: Stage) -> None:
    """What the tray's icon offers."""
    menu = stage.desktop.presence._tray.menu
    menu.popup(stage.window.mapToGlobal(stage.window.rect().center()))


SCENES: Final = (
    Scene("first-offer", offer, (), held="model"),
    Scene("first-download", download, (), held="model"),
    Scene("first-failed", failed, (), held="model"),
    Scene("first-ready", first_ready, ()),
    Scene("model-menu", model_menu),
    Scene("more-menu", more_menu),
    Scene("settings", settings),
    *map(settings_at, (0.25, 0.5, 0.75, 1.0)),
    Scene("settings-found", settings_found),
    Scene("assistants", assistants),
    Scene("own-assistant", own_assistant),
    Scene("chat-options", chat_options),
    Scene("export", export),
    Scene("exported", exported),
    Scene("importing", importing),
    Scene("imported", imported),
    Scene("crash", crash),
    Scene("link", link),
    Scene("folder", folder),
    Scene("removal", removal),
    Scene("server", server),
    Scene("serving", serving),
    Scene("help", help_page),
    Scene("quick-ask", quick_ask, sizes=("wide",)),
    Scene("quick-answer", quick_answer, reply=Reply(PIECES, cached=0, prefill=17, prefill_chunk=17), sizes=("wide",)),
    Scene("tray", tray, sizes=("wide",)),
)
