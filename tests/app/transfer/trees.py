"""Random conversations for Hypothesis, and all of a store as one value."""

from __future__ import annotations

from hypothesis import strategies as st

from app.records import STATUSES, Attachment, ChatOptions, Conversation, Folder, StoredMessage, new_id
from engine.stats import ItlMs, TurnStats

SPECIAL = ["天空 \U0001f469\u200d\U0001f680\n\n```py\n1\n```", "\0 nul", "<b>&amp;</b>", "\ufeff\u2028"]
SOME_TEXT = st.text(max_size=40) | st.sampled_from(SPECIAL)
TIMES = st.floats(0, 4e9)
FIGURES = st.floats(0, 1e9)
STATS = st.builds(
    TurnStats,
    *[st.integers(0, 10**9)] * 4,
    *[FIGURES] * 3,
    st.none() | FIGURES,
    st.none() | FIGURES,
    st.none() | st.builds(ItlMs, FIGURES, FIGURES, FIGURES),
    st.integers(0, 2**60),
    FIGURES,
    st.integers(0, 100),
    st.integers(0, 100),
)
OPTIONS = st.builds(
    ChatOptions,
    SOME_TEXT,
    st.dictionaries(st.sampled_from(["temperature", "top_k", "seed"]), st.none() | FIGURES | st.integers(0, 2**62)),
)
FOLDERS = st.lists(
    st.builds(Folder, st.text(min_size=1, max_size=9), st.builds(new_id), TIMES),
    max_size=3,
    unique_by=(lambda folder: folder.name),
)


@st.composite
def trees(draw, folders):
    """A conversation, its messages and its traces; its folder is one of `folders`."""
    messages: list[StoredMessage] = []
    talk_id = new_id()
    for _ in range(draw(st.integers(1, 8))):
        parent = draw(st.sampled_from([None, *messages]))
        made = StoredMessage(
            talk_id,
            draw(st.sampled_from(["system", "user", "assistant"])),
            draw(SOME_TEXT),
            parent_id=parent.id if parent else None,
            token_ids=draw(st.none() | st.lists(st.integers(0, 2**32 - 1), max_size=5).map(tuple)),
            status=draw(st.sampled_from(STATUSES)),
            model=draw(SOME_TEXT),
            stats=draw(st.none() | STATS),
            created_at=draw(TIMES),
            left_out=draw(st.integers(0, 9)),
            attachments=draw(st.lists(st.builds(Attachment, SOME_TEXT, SOME_TEXT), max_size=2).map(tuple)),
            thinking_s=draw(st.none() | FIGURES),
        )
        messages.append(made)
    traces = {message.id: f'{{"n": "{message.id}"}}' for message in messages if draw(st.booleans())}
    talk = Conversation(
        talk_id,
        draw(st.text(min_size=1, max_size=20)),
        draw(TIMES),
        draw(TIMES),
        "2026-11-29",
        draw(SOME_TEXT),
        draw(st.sampled_from(messages)).id,
        draw(st.booleans()),
        draw(st.sampled_from([None, *(folder.id for folder in folders)])),
        draw(st.none() | TIMES),
        draw(st.booleans()),
        draw(OPTIONS),
    )
    return talk, messages, traces


@st.composite
def contents(draw):
    """Folders, and conversations in some of them."""
    folders = draw(FOLDERS)
    return folders, draw(st.lists(trees(folders), max_size=3))


def everything(store):
    """All folders that are used, and all conversations with all that belongs to them."""
    found = {}
    for talk in (*store.conversations(), *store.archived()):
        messages = tuple(store.tree(talk.id)._messages.values())
        found[talk.id] = (talk, messages, {message.id: store.trace(message.id) for message in messages})
    used = {talk.folder_id for talk, _, _ in found.values()}
    return [folder for folder in store.folders() if folder.id in used], found
