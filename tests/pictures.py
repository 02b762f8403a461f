"""Pictures of the real window, to look at: `python -m tests.pictures [FOLDER]`; offscreen if no QT_QPA_PLATFORM is set.

Each scene is drawn light and dark, wide (1440 x 900) and narrow (640 x 800). Conversations, models and figures are
examples; the program behind the window is the real one, with a scripted worker in place of the engine's.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QDeadlineTimer, QEvent, QEventLoop, QSize, Qt
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

from app.chats import Chats
from app.conductor import Conductor
from app.crash import CrashReport, environment
from app.engine_bridge import EngineBridge
from app.live import ModelState, Notice
from app.records import Conversation, StoredMessage
from app.settings import Settings
from app.store import Store, open_store
from app.theme import Theme
from app.views.main_window import MainWindow
from engine.events import InstalledModel, LoadProgress, LoadStage, ModelInfo
from engine.stats import ItlMs, TurnStats
from tests.app.fake_worker import FakeWorker, Load, Reply

WIDE, NARROW = QSize(1440, 900), QSize(640, 800)
MINUTE, HOUR, DAY = 60, 3600, 86_400

MODEL = ModelInfo(
    name="smollm2",
    label="SmolLM2 135M Instruct",
    architecture="llama",
    parameters=134_515_008,
    context_limit=8192,
    device="cpu",
    device_reason="2 threads · no CUDA device found",
    dtype="float32",
    threads=2,
    weight_bytes=538_000_000,
    kv_bytes_per_token=46_080,
    load_s=1.42,
)
STATS = TurnStats(
    prompt_tokens=653,
    cached_tokens=612,
    prefill_tokens=41,
    completion_tokens=103,
    queue_s=0.001,
    template_s=0.003,
    prefill_s=0.2,
    ttft_s=0.21,
    decode_tokens_per_s=54.2,
    itl_ms=ItlMs(17.9, 19.4, 92.0),
    kv_bytes=32_000_000,
    total_s=2.1,
)
QUESTION = "Why do I wait before the first word, and then it runs steadily?"
ANSWER = """Those are the two phases of generation. **Prefill** reads your whole prompt in parallel and fills the \
key-value cache; you see nothing until it is done. **Decode** then adds one token per step, each step reading every \
weight once.

```python
first = model(prompt, use_cache=True)   # prefill: decides TTFT
while not done:                         # decode: decides tokens/s
    logits, cache = model(token, cache)
    token = sample(logits)
```
"""
NEXT = "And if I edit my first question now, what does that cost?"
LATER = (
    "Everything after the edit must be read again, because each token's keys and values depend on all tokens before "
    "it. The part in front of the edit stays in the **cache**, so an early edit costs more than a late one."
)
PIECES = tuple(word + " " for word in LATER.split())
RICH = """## Choosing a format

Three formats cover most needs. Each has *one* strength, and `loquat models add` reads the first two.

1. **GGUF** holds weights, tokenizer and template in one file:
   ```bash
   loquat models add ~/Downloads/model.Q8_0.gguf
   ```
2. **safetensors** is a folder:
   - `config.json` says what the model is
   - `tokenizer.json` turns text into tokens
3. A pickle is ~~fine~~ never loaded.

| Format | Files | Bits per weight | Loads in |
|:-------|------:|----------------:|---------:|
| GGUF Q8_0 | 1 | 8.5 | 0.6 s |
| GGUF Q4_K | 1 | 4.5 | 0.4 s |
| safetensors | 6 | 16 | 1.1 s |

> A smaller format is not always faster: below four bits the time goes into unpacking, not reading.

推理为什么慢？因为每个词元都要读取全部权重。 More in [the documentation](https://example.org/formats). 🙂
"""
PLACES = (
    ("Why is the first word slow?", 2 * MINUTE),
    ("Packing list for Lisbon", HOUR),
    ("Regex for ISO dates", 3 * HOUR),
    ("Letter to the landlord", DAY),
    ("Tomato seedlings, week 3", DAY + HOUR),
    ("SQL window functions", DAY + 2 * HOUR),
    ("Reading notes: Middlemarch", 3 * DAY),
    ("推理为什么慢", 4 * DAY),
    ("Birthday speech draft", 5 * DAY),
    ("Bike gear ratios, and which of them to keep for the hills", 6 * DAY),
    ("Names for a cat 🐈", 40 * DAY),
)


def settle(milliseconds: int = 60) -> None:
    """Let queued signals, layouts and deferred deletions happen."""
    loop, deadline = QEventLoop(), QDeadlineTimer(milliseconds)
    while not deadline.hasExpired():
        loop.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 10)
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def wait_for(condition: Callable[[], bool]) -> None:
    """Let things happen until a condition holds, at most five seconds."""
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline, "the scene did not come about"
        settle(10)


class Stage:
    """The program with example conversations."""

    def __init__(self, home: Path, theme: Theme, replies: tuple[Reply, ...], loads: tuple[Load, ...]) -> None:
        self.store, _ = open_store(home / "conversations.sqlite3")
        self.settings = Settings(home / "settings.json")
        self.bridge = EngineBridge(lambda emit: FakeWorker(emit, replies, loads))
        self.chats = Chats(self.store, self.bridge, self.settings)
        self.theme = theme
        self.window = MainWindow(theme)
        self.conductor = Conductor(self.window, self.chats, self.settings, theme)

    def close(self) -> None:
        self.window.close()
        self.chats.shutdown()
        self.bridge.close()
        self.store.close()
        self.window.deleteLater()
        settle()


def add_conversation(store: Store, title: str, age: float, *texts: str) -> None:
    """Store a conversation as it would be after so many seconds."""
    now = time.time()
    conversation = Conversation(title=title, created_at=now - age, updated_at=now - age)
    messages: list[StoredMessage] = []
    for number, text in enumerate(texts):
        role, parent = ("assistant", messages[-1].id) if number % 2 else ("user", messages[-1].id if messages else None)
        stats = STATS if number % 2 else None
        messages.append(StoredMessage(conversation.id, role, text, parent_id=parent, stats=stats, created_at=now - age))
    store.add_conversation(conversation, messages[0])
    for message in messages[1:]:
        store.finish_message(message)


def add_examples(store: Store, first: tuple[str, ...]) -> None:
    """The conversations of the sidebar, the first one with these messages."""
    for number, (title, age) in enumerate(PLACES):
        texts = first if number == 0 else ("A question.", "An answer.")
        add_conversation(store, title, age, *texts)
    assert store.flush(5)


Scene = Callable[[Stage], None]


def streaming(stage: Stage) -> None:
    """The second answer on its way."""
    stage.chats.load_model(None)
    wait_for(lambda: stage.chats.model.phase == "ready")
    stage.window.composer.set_text(NEXT)
    stage.window.composer.button.click()
    GATE.release(26)
    wait_for(lambda: stage.chats.current.live.completion_tokens >= 26)
    settle(120)


def reading(stage: Stage) -> None:
    """The prompt being read."""
    stage.chats.load_model(None)
    wait_for(lambda: stage.chats.model.phase == "ready")
    stage.window.composer.set_text(NEXT)
    stage.window.composer.button.click()
    PREFILL_GATE.release(2)
    wait_for(lambda: stage.chats.current.live.prefill_done > 0)
    settle(120)


def ready(stage: Stage) -> None:
    """An answer to read, the composer with a draft."""
    stage.chats.load_model(None)
    wait_for(lambda: stage.chats.model.phase == "ready")
    stage.window.composer.set_text("A draft of a question\nin two lines")


def first_run(stage: Stage) -> None:
    """Nothing yet, the model being downloaded."""
    step = LoadProgress("load", LoadStage.DOWNLOAD, 37_300_000, 93_000_000, "Downloading SmolLM2 135M Instruct")
    state = ModelState("working", step=replace(step, done=1_000_000), sentence=step.sentence)
    stage.window.progress.show_model(state)
    time.sleep(1.0)
    stage.chats.model_changed.emit(replace(state, step=step))


def empty_ready(stage: Stage) -> None:
    """A new chat with a model ready."""
    stage.chats.load_model(None)
    wait_for(lambda: stage.chats.model.phase == "ready")
    stage.chats.new()


def notices(stage: Stage) -> None:
    """Two notices, one after a deletion."""
    ready(stage)
    stage.chats.notice.emit(
        Notice(
            "The file model.gguf is cut short; please download it again.",
            "truncated at byte 81,264,640 of 144,811,360",
            "Try again",
            lambda: None,
        )
    )
    stage.chats.delete(stage.chats.conversations()[2].id)


def folded(stage: Stage) -> None:
    """The sidebar over the conversation in a narrow window, folded away in a wide one."""
    ready(stage)
    stage.window.toggle_sidebar()
    settle(250)


def crash(stage: Stage) -> None:
    """The crash dialog."""
    ready(stage)
    trace = 'Traceback (most recent call last):\n  File "app/session.py", line 120, in apply\nValueError: an example\n'
    stage.conductor.dialogs.show_crash(CrashReport("Something went wrong inside Loquat.", environment(), trace, True))


def link(stage: Stage) -> None:
    """The link dialog."""
    ready(stage)
    stage.window.chat.link_activated.emit("https://example.org/formats?from=loquat#gguf")


def versions(stage: Stage) -> None:
    """A second version of an answer, the mouse over it."""
    ready(stage)
    stage.chats.current.regenerate(stage.chats.current.messages()[1].id)
    wait_for(lambda: not stage.chats.current.busy)
    stage.window.composer.clear()
    for view in stage.window.chat.message_views():
        view.action_row.reveal(True)


def edit(stage: Stage) -> None:
    """A question being edited."""
    ready(stage)
    stage.window.composer.clear()
    view = stage.window.chat.message_views()[0]
    view.again_button.click()
    view.edit_box.editor.insertPlainText(" And does a longer question make it worse?")


def settings(stage: Stage) -> None:
    """The settings, one of them changed that waits for the model to be loaded again."""
    ready(stage)
    stage.conductor.dialogs.show_settings()
    stage.settings.set("temperature", 0.2)
    stage.settings.set("threads", 2)


def settings_end(stage: Stage) -> None:
    """The lower half of the settings."""
    settings(stage)
    settle(60)
    area = stage.conductor.dialogs._shown_settings.findChild(QScrollArea)
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())


def checking(stage: Stage) -> None:
    """A chat being checked."""
    stage.bridge._worker.check_gate = GATE
    ready(stage)
    stage.chats.check_current()
    settle(100)


def model_menu(stage: Stage) -> None:
    """The menu of the model chip."""
    stage.bridge._worker.models = [
        InstalledModel("smollm2", MODEL.label, MODEL.parameters, 93_000_000, False),
        InstalledModel("qwen", "Qwen2.5 0.5B Instruct", 494_000_000, 398_000_000, True),
    ]
    ready(stage)
    wait_for(lambda: len(stage.chats.models.models) == 2)
    stage.window.header.chip.click()


def left_out(stage: Stage) -> None:
    """A conversation that is longer than the context."""
    ready(stage)
    stage.window.composer.clear()
    stage.chats.current.send(NEXT)
    wait_for(lambda: not stage.chats.current.busy)


GATE = threading.Semaphore(0)
PREFILL_GATE = threading.Semaphore(0)
LIVE = Reply(PIECES, cached=688, prefill=17, prefill_chunk=17, gate=GATE, delay_s=0.012)
LONG = Reply(PIECES, cached=688, prefill=196, prefill_chunk=40, prefill_gate=PREFILL_GATE)
TALK = (QUESTION, ANSWER)
SCENES: dict[str, tuple[Scene, tuple[str, ...], tuple[Reply, ...]]] = {
    "streaming": (streaming, TALK, (LIVE,)),
    "reading": (reading, TALK, (LONG,)),
    "rich": (ready, ("Which model formats are there?", RICH), ()),
    "first-run": (first_run, (), ()),
    "new-chat": (empty_ready, TALK, ()),
    "notices": (notices, TALK, ()),
    "folded": (folded, TALK, ()),
    "versions": (versions, TALK, (Reply((ANSWER,), cached=640, prefill=1),)),
    "edit": (edit, TALK, ()),
    "left-out": (left_out, TALK, (Reply(PIECES, left_out=(0, 1)),)),
    "settings": (settings, TALK, ()),
    "settings-end": (settings_end, TALK, ()),
    "checking": (checking, TALK, ()),
    "model-menu": (model_menu, TALK, ()),
    "crash": (crash, TALK, ()),
    "link": (link, TALK, ()),
}


@contextmanager
def staged(theme: Theme, scene: str, size: QSize) -> Iterator[Stage]:
    """A scene, played in a home of its own."""
    play, texts, replies = SCENES[scene]
    with tempfile.TemporaryDirectory() as home:
        stage = Stage(Path(home), theme, replies, (Load(MODEL),))
        if texts:
            add_examples(stage.store, texts)
        stage.window.resize(size)
        stage.chats.restore()
        stage.window.show()
        settle()
        try:
            play(stage)
            settle(120)
            yield stage
        finally:
            GATE.release(10_000)
            PREFILL_GATE.release(10_000)
            stage.close()
            while GATE.acquire(blocking=False):
                pass
            while PREFILL_GATE.acquire(blocking=False):
                pass


def picture(stage: Stage, path: Path) -> None:
    """Save the window as a PNG, with a dialog over it if one is open."""
    image = stage.window.grab()
    for dialog in stage.window.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
        if dialog.isWindow() and dialog.isVisible():
            place = (stage.window.size() - dialog.size()) / 2
            _paste(image, dialog, place)
    popup = QApplication.activePopupWidget()
    if popup is not None:
        corner = popup.pos() - stage.window.pos()
        _paste(image, popup, QSize(corner.x(), corner.y()))
    image.save(str(path))
    print(path)


def _paste(image: object, dialog: QWidget, place: QSize) -> None:
    from PySide6.QtGui import QPainter

    painter = QPainter(image)
    painter.drawPixmap(place.width(), place.height(), dialog.grab())
    painter.end()


def main() -> None:
    """Make the pictures asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("out/pictures"))
    parser.add_argument("--scene", choices=SCENES, action="append", help="only these; all if none is named")
    parser.add_argument("--theme", choices=("light", "dark"), action="append")
    parser.add_argument("--size", choices=("wide", "narrow"), action="append")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    app = QApplication(["loquat"])
    theme = Theme(app)
    for choice in options.theme or ("light", "dark"):
        theme.set_choice(choice)
        for scene in options.scene or SCENES:
            for size in options.size or ("wide", "narrow"):
                with staged(theme, scene, WIDE if size == "wide" else NARROW) as stage:
                    picture(stage, options.folder / f"{scene}-{choice}-{size}.png")


if __name__ == "__main__":
    main()
