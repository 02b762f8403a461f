"""A file of prompts: each line an answer or an error with its number, each on the disk at once, none twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.batch_values import Answer
from engine.config import GREEDY, SamplingParams
from engine.errors import BadRequest, EngineError, ModelNotFound
from engine.events import FinishReason
from engine.jsonl_answers import AnswerFile
from engine.jsonl_prompts import Line, read_lines


def lines_of(tmp_path: Path, *texts: str | bytes, params: SamplingParams = GREEDY, about: str = "m") -> list[Line]:
    file = tmp_path / "in.jsonl"
    file.write_bytes(b"\n".join(text if isinstance(text, bytes) else text.encode() for text in texts))
    return list(read_lines(file, params, about))


def test_prompts_and_conversations_become_requests(tmp_path) -> None:
    messages = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Why?"}]
    first, second, third = lines_of(
        tmp_path,
        b'\xef\xbb\xbf{"prompt": "Hi"}',
        "",
        json.dumps({"id": "b", "messages": messages, "label": "kept apart"}),
        json.dumps({"id": 7, "prompt": "So", "sampling": {"temperature": 1, "max_tokens": 3, "stop": "x"}}),
    )
    assert (first.number, first.id, first.request.messages[0].content) == (1, 1, "Hi")
    assert (second.number, second.id, [m.role for m in second.request.messages]) == (3, "b", ["system", "user"])
    params = third.request.params
    assert (params.temperature, params.max_tokens, params.stop, params.top_k) == (1, 3, ("x",), 0)


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "no JSON"), ("[1]", "no JSON object"), ("[" * 100_000, "no JSON"), ("{}", "either"),
     ('{"prompt": "a", "messages": []}', "either"), ('{"prompt": 7}', "no text"), ('{"prompt": " "}', "empty"),
     ('{"messages": []}', "no list"), ('{"messages": ["a"]}', "role"), ('{"messages": [{"role": "x"}]}', "role"),
     ('{"messages": [{"role": "user"}]}', "no text"), ('{"messages": [{"role": "assistant", "content": "a"}]}', "user"),
     ('{"prompt": "a", "id": [1]}', "id"), ('{"prompt": "a", "id": true}', "id"),
     ('{"prompt": "a", "sampling": 7}', "no object"), ('{"prompt": "a", "sampling": {"beams": 2}}', "beams"),
     ('{"prompt": "a", "sampling": {"top_k": 1.5}}', "whole"), ('{"prompt": "a", "sampling": {"stop": [1]}}', "stop"),
     ('{"prompt": "a", "sampling": {"temperature": -1}}', "between"), (b'{"prompt": "\xff"}', "no JSON"),
     ('{"prompt": "a", "sampling": {"max_tokens": 0}}', "between")],
)  # fmt: skip
def test_a_malformed_line_is_told_by_its_number(tmp_path, text, said: str) -> None:
    good, bad = lines_of(tmp_path, '{"prompt": "a"}', text)
    assert good.request is not None and bad.request is None
    assert bad.error.startswith("Line 2 is skipped: ") and said in bad.error and bad.error.endswith(".")


def test_half_a_character_is_no_error(tmp_path) -> None:
    (line,) = lines_of(tmp_path, '{"prompt": "a \\ud800"}')
    assert line.request.messages[0].content == "a ?"


def test_a_key_changes_with_all_that_changes_the_answer(tmp_path) -> None:
    text = '{"prompt": "a"}'
    keys = {lines_of(tmp_path, text)[0].key, lines_of(tmp_path, text + " ")[0].key}
    assert len(keys) == 1
    keys |= {lines_of(tmp_path, text, about="n")[0].key, lines_of(tmp_path, '{"prompt": "b"}')[0].key}
    keys |= {lines_of(tmp_path, text, params=SamplingParams())[0].key}
    assert len(keys) == 4


def test_a_missing_input_is_said(tmp_path) -> None:
    with pytest.raises(ModelNotFound, match="There is no file"):
        list(read_lines(tmp_path / "none", GREEDY, "m"))
    with pytest.raises(BadRequest, match="cannot be read"):
        list(read_lines(tmp_path, GREEDY, "m"))


def answer(line: Line, text: str = "yes\nand é") -> Answer:
    return Answer(line.number, text, FinishReason.END, 3, 2)


def test_answers_are_kept_at_once_and_sorted_at_the_end(tmp_path) -> None:
    first, bad, third = lines_of(tmp_path, '{"prompt": "a"}', "{", '{"prompt": "c"}')
    out = tmp_path / "out.jsonl"
    with AnswerFile(out) as file:
        file.add(third, answer(third))
        assert json.loads(out.read_text(encoding="utf-8"))["text"] == "yes\nand é"
        file.add(bad, None)
        file.add(first, Answer(1, error="Too long."))
        file.sort()
        assert file.failed == 2
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [record["line"] for record in records] == [1, 2, 3]
    assert records[0]["error"] == "Too long." and records[1]["error"].startswith("Line 2")
    assert records[2]["finish_reason"] == "end" and records[2]["completion_tokens"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_last_line_is_repaired(tmp_path, cut: int) -> None:
    first, second = lines_of(tmp_path, '{"prompt": "a"}', '{"prompt": "b"}')
    out = tmp_path / "out.jsonl"
    with AnswerFile(out) as file:
        file.add(first, answer(first))
        file.add(second, answer(second))
    out.write_bytes(out.read_bytes()[:-cut])
    with AnswerFile(out) as file:
        assert file.holds(first) and not file.holds(second)
        file.add(second, answer(second))
    assert len(out.read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize(
    "content", ["a diary", "a diary\n", '{"prompt": "a"}\n', '{"line": 1}', "\n\n", '{"line": 1, "key": 3}\n']
)
def test_a_file_that_is_something_else_is_left_alone(tmp_path, content: str) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text(content, encoding="utf-8")
    with pytest.raises(BadRequest, match="holds something else"), AnswerFile(out):
        pass
    assert out.read_text(encoding="utf-8") == content


def test_answers_to_something_else_are_not_mixed(tmp_path) -> None:
    (line,) = lines_of(tmp_path, '{"prompt": "a"}')
    with AnswerFile(tmp_path / "out.jsonl") as file:
        file.add(line, answer(line))
    (other,) = lines_of(tmp_path, '{"prompt": "a"}', about="another model")
    with AnswerFile(tmp_path / "out.jsonl") as file, pytest.raises(BadRequest, match="other prompts"):
        file.holds(other)


def test_two_programs_do_not_write_to_one_file(tmp_path) -> None:
    out = tmp_path / "out.jsonl"
    with AnswerFile(out), pytest.raises(BadRequest, match="Another program"), AnswerFile(out):
        pass


def test_a_disk_that_fills_up_is_said_and_the_run_goes_on_later(tmp_path) -> None:
    resource = pytest.importorskip("resource", reason="Windows limits no file's size")
    first, second = lines_of(tmp_path, '{"prompt": "a"}', '{"prompt": "b"}')
    out = tmp_path / "out.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with pytest.raises(EngineError, match="could not write the answers"), AnswerFile(out) as file:
            file.add(first, answer(first))
            resource.setrlimit(resource.RLIMIT_FSIZE, (out.stat().st_size + 20, before[1]))
            file.add(second, answer(second))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with AnswerFile(out) as file:
        assert file.holds(first) and not file.holds(second)


def test_a_file_that_cannot_be_written_is_said(tmp_path) -> None:
    (tmp_path / "out.jsonl").mkdir()
    with pytest.raises(EngineError, match="could not write the answers"), AnswerFile(tmp_path / "out.jsonl"):
        pass
