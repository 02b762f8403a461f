from __future__ import annotations

import pytest

from app.records import Attachment


def message(message_id, parent, role, content, **values):
    return {
        "id": message_id,
        "parentId": parent,
        "childrenIds": [],
        "role": role,
        "content": content,
        "timestamp": 1_700_000_000,
        **values,
    }


MESSAGES = [
    message("q", None, "user", "Why?", models=["llama3:latest"]),
    message("a1", "q", "assistant", "One", model="llama3:latest", modelName="Llama", done=True),
    message("a2", "q", "assistant", "Two", model="qwen3:4b", done=True),
    message("q2", "a2", "user", "More"),
    message("a3", "q2", "assistant", "", done=False),
]
CHAT = {
    "id": "",
    "title": "Sky",
    "models": ["llama3:latest"],
    "params": {"system": "Be brief."},
    "history": {"messages": {each["id"]: each for each in MESSAGES}, "currentId": "a3"},
    "messages": MESSAGES,
    "tags": [],
    "timestamp": 1_700_000_000_123,
}
ITEM = {
    "id": "talk",
    "user_id": "u",
    "title": "Sky",
    "chat": CHAT,
    "updated_at": 1_700_000_100,
    "created_at": 1_700_000_000,
    "share_id": None,
    "archived": False,
    "pinned": True,
    "meta": {"tags": ["x"]},
    "folder_id": None,
}


def test_a_tree_with_its_branches_and_the_one_that_was_shown(take, store, thread):
    result = take([ITEM])
    assert (result.count, result.problem) == (1, "")
    (talk,) = store.conversations()
    assert (talk.id, talk.title, talk.system_prompt, talk.pinned) == ("talk", "Sky", "Be brief.", True)
    assert (talk.created_at, talk.updated_at) == (1_700_000_000, 1_700_000_100)
    assert thread() == [("user", "Why?"), ("assistant", "Two"), ("user", "More")]
    tree = store.tree("talk")
    assert tree.version("a1").of == 2
    assert tree.get("a1").model == "llama3:latest"
    assert take([ITEM]).already_here == 1


@pytest.mark.parametrize(
    "shape",
    [
        [CHAT],
        CHAT,
        ITEM,
        {"data": [ITEM]},
        {"chats": [ITEM]},
        [{"chat": {**CHAT, "history": None}}],
        [{"chat": {**CHAT, "history": {"messages": MESSAGES, "currentId": "a3"}}}],
        [{**ITEM, "chat": {"title": "Sky", "messages": MESSAGES}}],
    ],
    ids=["legacy", "one", "one item", "data", "chats", "no history", "list of messages", "messages only"],
)
def test_several_shapes(take, store, thread, shape):
    result = take(shape)
    assert (result.count, result.problem) == (1, "")
    assert [c.title for c in store.conversations()] == ["Sky"]
    assert thread() == [("user", "Why?"), ("assistant", "Two"), ("user", "More")]
    assert take(shape).already_here == 1, "what has no id gets the same one again"


def test_messages_without_ids_follow_one_another(take, thread):
    take([{"title": "t", "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}])
    assert thread() == [("user", "q"), ("assistant", "a")]


def test_thinking_files_and_parts(take, store, thread):
    answer = (
        '<details type="reasoning" done="true" duration="5">\n<summary>Thought for 5 seconds</summary>\n'
        "> First &lt;this&gt;,\n> then that.\n</details>\nThe answer."
    )
    question = [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "data:"}}]
    files = [
        {"type": "file", "name": "a.txt", "file": {"data": {"content": "inside"}}},
        {"type": "image", "url": "data:"},
        {"type": "collection", "name": "papers"},
        3,
    ]
    take([{"messages": [message("q", None, "user", question, files=files), message("a", "q", "assistant", answer)]}])
    (talk,) = store.conversations()
    asked, answered = store.tree(talk.id).thread()
    assert asked.attachments == (Attachment("a.txt", "inside"),)
    assert asked.content.split("\n\n") == [
        "Look",
        "[An image that was not imported]",
        "[An image that was not imported]",
        "[The file papers that was not imported]",
    ]
    assert answered.content == "<think>\nFirst <this>,\nthen that.\n</think>\n\nThe answer."
    assert answered.thinking_s == 5


@pytest.mark.parametrize("strange", [None, True, "x", [], {}, 2**62, -5, [None], {"a": None}])
def test_strange_values_have_their_defaults(take, store, strange):
    odd = dict.fromkeys(("timestamp", "model", "files", "childrenIds"), strange)
    messages = {"q": {**message("q", strange, "user", "Q"), **odd}, "z": strange}
    chat = {"history": {"messages": messages, "currentId": strange}, "params": strange}
    value = dict.fromkeys(("id", "title", "created_at", "updated_at"), strange) | {"chat": chat}
    result = take([value])
    assert (result.count, result.problem) == (1, "")
    (talk,) = store.conversations()
    assert [each.content for each in store.tree(talk.id).thread()] == ["Q"]
