from __future__ import annotations

import json
import zipfile

import pytest

from app.transfer import chatgpt


def node(node_id, parent, role=None, *parts, children=(), kind="text", recipient="all", content=None, **metadata):
    message = None
    if role:
        message = {
            "id": node_id,
            "author": {"role": role, "name": None, "metadata": {}},
            "create_time": 1_700_000_000.5,
            "update_time": None,
            "content": content or {"content_type": kind, "parts": list(parts)},
            "status": "finished_successfully",
            "end_turn": True,
            "weight": 1.0,
            "metadata": metadata,
            "recipient": recipient,
            "channel": None,
        }
    return {node_id: {"id": node_id, "message": message, "parent": parent, "children": list(children)}}


def conversation(*nodes, current=None, **values):
    found = {}
    for each in nodes:
        found |= each
    return {
        "title": "Sky",
        "create_time": 1_700_000_000.25,
        "update_time": 1_700_000_100.5,
        "mapping": found,
        "moderation_results": [],
        "current_node": current,
        "conversation_id": "talk",
        "id": "talk",
        "is_archived": False,
        **values,
    }


USER = {"role": "user"}
BRANCHES = conversation(
    node("root", None, children=["sys"]),
    node("sys", "root", "system", "", children=["q"], is_visually_hidden_from_conversation=True),
    node("q", "sys", "user", "Why is the sky blue?", children=["a1", "a2"]),
    node("a1", "q", "assistant", "One", model_slug="gpt-4"),
    node("a2", "q", "assistant", "Two", children=["q2"], model_slug="gpt-4o"),
    node("q2", "a2", "user", "And red?", children=["a3"]),
    node("a3", "q2", "assistant", "Three \ue200cite\ue202turn0search1\ue201", model_slug="gpt-4o"),
    current="a3",
    is_starred=True,
)


def test_a_tree_with_its_branches_and_the_one_that_was_shown(take, store, thread):
    result = take([BRANCHES])
    assert (result.count, result.problem) == (1, "")
    (talk,) = store.conversations()
    assert (talk.id, talk.title, talk.pinned, talk.titled) == ("talk", "Sky", True, True)
    assert (talk.created_at, talk.updated_at) == (1_700_000_000.25, 1_700_000_100.5)
    assert [text for _, text in thread()] == ["Why is the sky blue?", "Two", "And red?", "Three "]
    tree = store.tree("talk")
    assert (tree.version("a2").number, tree.version("a2").of) == (2, 2)
    assert [tree.get(each).model for each in ("a1", "a2")] == ["gpt-4", "gpt-4o"]
    assert tree.get("q").created_at == 1_700_000_000.5
    assert take([BRANCHES]).already_here == 1


def test_the_branch_that_was_shown_need_not_be_the_newest(take, thread):
    take([{**BRANCHES, "current_node": "a1"}])
    assert [text for _, text in thread()] == ["Why is the sky blue?", "One"]


def test_an_answer_in_several_steps_is_one_message(take, thread, store):
    code = {"content_type": "code", "language": "unknown", "text": "print(1)"}
    output = {"content_type": "execution_output", "text": "1\n"}
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "Let me see."}]}
    recap = {"content_type": "reasoning_recap", "content": "Thought for 7s"}
    take(
        [
            conversation(
                node("q", None, "user", "Compute", children=["t"]),
                node("t", "q", "assistant", content=thoughts, children=["r"]),
                node("r", "t", "assistant", content=recap, children=["c"], finished_duration_sec=7),
                node("c", "r", "assistant", content=code, recipient="python", children=["o"]),
                node("o", "c", "tool", content=output, children=["s"]),
                node("s", "o", "assistant", content={"content_type": "code", "text": '{"q": 1}'}, recipient="web.run"),
                node("w", "s", "tool", "a whole web page", children=["a"]),
                node("a", "w", "assistant", "It is 1.", children=["q2"]),
                node("q2", "a", "user", "Thanks"),
                current="q2",
            )
        ]
    )
    answer = "<think>\nLet me see.\n</think>\n\n```python\nprint(1)\n```\n\n```\n1\n```\n\nIt is 1."
    assert thread() == [("user", "Compute"), ("assistant", answer), ("user", "Thanks")]
    assert store.tree("talk").thread()[1].thinking_s == 7


def test_what_is_no_text_is_noted_in_words(take, thread):
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
        "Look at this",
        {"content_type": "audio_transcription", "text": "spoken words"},
        {"content_type": "audio_asset_pointer"},
        {"content_type": "real_time_user_audio_video_asset_pointer"},
        {"new": 1},
        None,
    ]
    take([conversation(node("q", None, "user", *parts, kind="multimodal_text", attachments=[{"name": "a.pdf"}, 3]))])
    ((_, text),) = thread()
    assert text.split("\n\n") == [
        "[The file a.pdf that was not imported]",
        "[An image that was not imported]",
        "Look at this",
        "spoken words",
        "[A recording that was not imported]",
        "[A video that was not imported]",
        "[Something that was not imported]",
        "[Something that was not imported]",
    ]


def test_an_archived_one_and_one_without_a_title(take, store):
    take([conversation(node("q", None, "user", "What is a loquat, please?"), title=None, is_archived=True)])
    (talk,) = store.archived()
    assert (talk.title, talk.titled, talk.archived_at) == ("What is a loquat, please?", False, talk.updated_at)


def test_a_conversation_without_a_time_has_that_of_its_messages(take, store):
    take([conversation(node("q", None, "user", "Q"), create_time=None, update_time=None)])
    (talk,) = store.conversations()
    assert talk.created_at == talk.updated_at == 1_700_000_000.5
    assert talk.started_on.startswith("2023-11-1")


@pytest.mark.parametrize(
    ("nodes", "texts"),
    [
        ([node("a", "b", "user", "A"), node("b", "a", "assistant", "B")], {"A", "B"}),
        ([node("a", "gone", "user", "A"), node("b", "a", "assistant", "B")], {"A", "B"}),
        ([node("a", "a", "user", "A", children=["a", "a", "x"])], {"A"}),
        ([node("a", None, "user", "A", children=["b"]), {"b": {"message": {"author": {"role": "assistant"}}}}], {"A"}),
        ([{"a": None, "b": 3, "c": {"message": []}}, node("d", None, "user", "D")], {"D"}),
        (
            [
                {"a": {"message": {"author": {"role": "user"}, "content": {"parts": "no list"}}}},
                node("d", 5, "user", "D"),
            ],
            {"D"},
        ),
    ],
    ids=["cycle", "no parent", "own parent", "no parent but a child", "no nodes", "other kinds"],
)
def test_trees_that_are_none_lose_nothing_that_was_said(take, store, nodes, texts):
    result = take([conversation(*nodes, current="nowhere")])
    assert result.problem == ""
    assert {message.content for message in store.tree("talk")._messages.values()} == texts


@pytest.mark.parametrize("strange", [None, True, "NaN", [], {}, 1e300, -1, 2**62, "\ud800"])
def test_strange_values_have_their_defaults(take, store, strange):
    value = conversation(node("q", None, "user", "Q"), current=strange)
    value |= {"title": strange, "create_time": strange, "update_time": strange, "is_archived": strange is True}
    value["mapping"]["q"]["message"] |= {"create_time": strange, "metadata": strange, "recipient": strange}
    result = take([value])
    assert (result.count, result.problem) == (1, "")
    (talk,) = (*store.conversations(), *store.archived())
    assert 0 <= talk.created_at <= talk.updated_at < 1e12
    assert [message.content for message in store.tree(talk.id).thread()] == ["Q"]


def test_a_long_chain_needs_no_recursion():
    nodes = [node("n0", None, "user", "0")]
    nodes += [node(f"n{at}", f"n{at - 1}", "assistant" if at % 2 else "user", f"{at}") for at in range(1, 20_000)]
    tree = chatgpt.read(conversation(*nodes, current="n19999"))
    assert len(tree.messages) == 20_000
    assert tree.conversation.leaf_id == "n19999"


@pytest.mark.parametrize("names", [["conversations.json"], ["x/conversations-000.json", "x/conversations-001.json"]])
def test_the_archive_as_it_is_sent(store, take, tmp_path, names):
    path = tmp_path / "made.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("chat.html", "<html></html>")
        for at, name in enumerate(names):
            archive.writestr(name, json.dumps([{**BRANCHES, "conversation_id": f"talk{at}"}]))
    result = take(path.read_bytes(), "export.zip")
    assert (result.count, result.problem) == (len(names), "")
    assert {c.id for c in store.conversations()} == {f"talk{at}" for at in range(len(names))}
    assert result.steps[-1][0] == result.steps[-1][1]
