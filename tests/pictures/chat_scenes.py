"""Scenes of conversations: what is said, written and found in them."""

from __future__ import annotations

from typing import Final

from app.i18n import translate
from app.live import DraftCost, Notice
from app.views.sent_files import SentFiles
from app.views.thinking_view import ThinkingView
from tests.app.fake_worker import Reply
from tests.pictures import examples
from tests.pictures.examples import ANSWER, NEXT, NOTES, PIECES, QUESTION, SCRIPT, TALK
from tests.pictures.stage import Scene, Stage, settle, wait_for

COST: Final = DraftCost(717, 705, 12, 8192, 0, 0.1)


def still(stage: Stage) -> None:
    """What is on view at once, formulas drawn."""
    settle(400)


def streaming(stage: Stage) -> None:
    """The second answer on its way."""
    stage.gate.release(26)
    stage.ask(NEXT, lambda: stage.desktop.chats.current.live.completion_tokens >= 26)
    stage.window.composer.show_cost(COST)
    settle(120)


def reading(stage: Stage) -> None:
    """The prompt being read."""
    stage.gate.release(2)
    stage.ask(NEXT, lambda: stage.desktop.chats.current.live.prefill_done > 0)
    settle(120)


def queued(stage: Stage) -> None:
    """A question that waits for the end of an answer."""
    streaming(stage)
    stage.ask("Then how do I keep the first question short?", lambda: stage.desktop.chats.current.queued)


def draft(stage: Stage) -> None:
    """A draft of two lines, and what it will cost."""
    stage.window.composer.set_text("A draft of a question\nin two lines")
    wait_for(lambda: stage.worker.previews)
    settle()
    stage.window.composer.show_cost(COST)


def attachments(stage: Stage) -> None:
    """Two files that go with the draft."""
    stage.window.composer.set_draft("What do these say about decode?", (NOTES, SCRIPT))
    settle(400)
    stage.window.composer.show_cost(DraftCost(1_910, 705, 1_205, 8192, 0, 4.8))


def sent_files(stage: Stage) -> None:
    """A question that was asked with files."""
    stage.window.composer.set_draft("What do these say about decode?", (NOTES, SCRIPT))
    stage.window.composer.button.click()
    wait_for(lambda: not stage.desktop.chats.current.busy and stage.window.findChildren(SentFiles))


def edit(stage: Stage) -> None:
    """A question being edited, and what that will cost."""
    view = stage.window.chat.message_views()[0]
    view.again_button.click()
    view.edit_box.editor.insertPlainText(" And does a longer question make it worse?")
    settle(300)
    view.edit_box.show_cost(DraftCost(1_260, 20, 24, 8192, 0, 2.1))


def versions(stage: Stage) -> None:
    """A second version of an answer, its actions on view."""
    current = stage.desktop.chats.current
    current.regenerate(current.messages()[1].id)
    wait_for(lambda: not current.busy)
    for view in stage.window.chat.message_views():
        view.action_row.reveal(True)


def left_out(stage: Stage) -> None:
    """A conversation that is longer than the context."""
    stage.ask(NEXT)


def unfolded(stage: Stage) -> None:
    """What the model thought, unfolded."""
    stage.of(ThinkingView).button.click()
    settle(250)


def find(stage: Stage) -> None:
    """A word found in the conversation."""
    stage.run("find", "token")
    settle(200)


def folded(stage: Stage) -> None:
    """The sidebar over the conversation in a narrow window, folded away in a wide one."""
    stage.run("toggle_sidebar")
    settle(250)


def organised(stage: Stage) -> None:
    """Pins, folders and the archive in the list."""
    examples.arrange(stage.desktop.store)
    stage.desktop.chats.reread()
    stage.window.show_sidebar(True)
    settle(250)


def archive(stage: Stage) -> None:
    """What was put out of the list."""
    organised(stage)
    stage.window.sidebar.list.wishes.archive_opened.emit()


def search(stage: Stage) -> None:
    """Words found in all conversations."""
    stage.run("search_chats", "answer")
    wait_for(lambda: stage.window.sidebar.results.found.rows)
    settle(250)


def search_nothing(stage: Stage) -> None:
    """Words that are nowhere."""
    stage.run("search_chats", "zugzwang")
    wait_for(lambda: stage.window.sidebar.sentence)
    settle(250)


def palette(stage: Stage) -> None:
    """Everything that can be done."""
    stage.run("palette")


def palette_found(stage: Stage) -> None:
    """What answers to some letters."""
    stage.run("palette")
    stage.window.command_palette.field.setText("ex")


def slash(stage: Stage) -> None:
    """Commands in the field."""
    stage.window.composer.type("/")
    settle(100)


def notices(stage: Stage) -> None:
    """A notice with a detail, and one after a deletion."""
    cut = "The file model.gguf is damaged or incomplete (it ends too early); get it again."
    detail = "truncated at byte 81,264,640 of 144,811,360"
    stage.desktop.chats.notice.emit(Notice(cut, detail, translate("chats", "Try again"), lambda: None))
    stage.desktop.chats.delete(stage.desktop.chats.conversations()[2].id)


def checking(stage: Stage) -> None:
    """A conversation being checked."""
    stage.worker.check_gate = stage.gate
    stage.run("check_chat")
    settle(100)


def new_chat(stage: Stage) -> None:
    """An empty conversation with a model ready."""
    stage.run("new_chat")


LIVE: Final = Reply(PIECES, cached=688, prefill=17, prefill_chunk=17, delay_s=0.012)
SCENES: Final = (
    Scene("conversation", draft),
    Scene("streaming", streaming, reply=LIVE, held="tokens"),
    Scene("reading", reading, reply=Reply(PIECES, cached=688, prefill=196, prefill_chunk=40), held="prompt"),
    Scene("queued", queued, reply=LIVE, held="tokens"),
    Scene("rich", still, ("Which model formats are there?", examples.RICH)),
    Scene("formulas", still, ("How does attention work?", examples.FORMULAS)),
    Scene("thinking", still, ("What is 1 + 2 + … + 100?", examples.THOUGHT)),
    Scene("thinking-unfolded", unfolded, ("What is 1 + 2 + … + 100?", examples.THOUGHT)),
    Scene("scripts", still, (examples.ARABIC, examples.ARABIC_ANSWER, examples.CHINESE, examples.CHINESE_ANSWER)),
    Scene("attachments", attachments),
    Scene("sent-files", sent_files, reply=Reply(PIECES, cached=688, prefill=1205, prefill_chunk=1205)),
    Scene("edit", edit),
    Scene("versions", versions, reply=Reply((ANSWER,), cached=640, prefill=1)),
    Scene("left-out", left_out, (QUESTION, ANSWER), reply=Reply(PIECES, left_out=(0, 1))),
    Scene("find", find),
    Scene("folded", folded),
    Scene("organised", organised),
    Scene("archive", archive),
    Scene("search", search),
    Scene("search-nothing", search_nothing),
    Scene("palette", palette),
    Scene("palette-found", palette_found),
    Scene("slash", slash),
    Scene("notices", notices),
    Scene("checking", checking),
    Scene("new-chat", new_chat),
    Scene("large-text", draft, ("Which model formats are there?", examples.RICH), settings={"text_size": "150"}),
    Scene("compact", draft, TALK, settings={"density": "compact"}),
    Scene("accent", draft, TALK, settings={"accent": "blue"}),
)
