"""What a check says of templates of every kind, and of tokenizers that do not belong to their weights."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from engine.chat import ChatRequest, Message, RequestHandle
from engine.cli_models import run
from engine.errors import BadModelFile, BadRequest
from engine.models.choices import ModelChoices, read_choices, write_choices
from engine.models.listing import listed
from engine.models.registry import Registry
from engine.paths import Paths
from engine.prompt import PromptBuilder, load_prompt_builder
from engine.templates.check import check_model, sentences
from engine.templates.checked import (
    CHECK,
    Held,
    History,
    ModelCheck,
    SystemMessage,
    Thinking,
    read_check,
    write_check,
)
from engine.templates.plain import TemplateKind
from tests.engine.fakes import loquat_tokenizer
from tests.engine.models.gguf_files import finish, write_gguf
from tests.tiny_models import CHAT_TEMPLATE

TinyModel = Callable[..., Path]


@pytest.fixture
def folder(tiny_model: TinyModel, tmp_path: Path) -> Path:
    """A model whose files a test may change."""
    return shutil.copytree(tiny_model("llama"), tmp_path / "tiny")


def check(folder: Path, template: str | None) -> ModelCheck:
    if template is None:
        (folder / "chat_template.jinja").unlink()
    else:
        (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    return check_model(folder)


def kinds(found: ModelCheck) -> list[str]:
    return [finding.kind for finding in found.findings]


def test_a_good_template_has_no_findings(folder: Path) -> None:
    found = check(folder, CHAT_TEMPLATE)
    assert found.findings == () and not found.serious
    assert (found.held, found.template) == (Held.USABLE, TemplateKind.OWN)
    assert (found.system, found.thinking, found.history) == (SystemMessage.OWN, Thinking.NONE, History.KEPT)
    assert found.stable
    assert found.ends == ("<|endoftext|>", "<|im_end|>")
    assert (found.tokens, found.rows) == (267, 300)
    assert all(sentence.endswith((".", ":")) for sentence in sentences(found))


TEXT = "{{ m.content }}"
STRIPPED = "{{ m.content.split('</think>')[-1] }}"
LOOP = "{% for m in messages %}<|im_start|>{{ m.role }}\n" + TEXT + "<|im_end|>\n{% endfor %}"
OPENED = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"


def test_a_template_that_counts_what_follows_is_unstable(folder: Path) -> None:
    found = check(folder, "{{ messages | length }} messages\n" + LOOP + OPENED)
    assert kinds(found) == ["unstable"] and found.serious
    assert not found.stable and found.history is History.REWRITTEN


def test_thinking_that_is_left_out_of_earlier_replies_is_named(folder: Path) -> None:
    found = check(folder, LOOP.replace(TEXT, STRIPPED) + OPENED)
    assert kinds(found) == ["thinking_stripped"] and not found.serious
    assert found.history is History.UNTHOUGHT and found.stable


def test_a_reply_that_the_template_begins_itself_is_told(folder: Path) -> None:
    found = check(folder, LOOP.replace(TEXT, STRIPPED) + OPENED.replace("assistant\n", "assistant\n<think>\n"))
    assert found.stable and found.thinking is Thinking.ALWAYS and kinds(found) == ["thinking_stripped"]


@pytest.mark.parametrize(
    "template",
    [
        LOOP.replace(TEXT, STRIPPED) + OPENED.replace("assistant\n", "assistant\n<think>\n"),
        # A blank that the model writes itself, before and behind the reply, as Llama 2 has it.
        "{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]"
        "{% else %} {{ m.content }} <|im_end|>{% endif %}{% endfor %}",
        # A channel that the model chooses itself.
        "{% for m in messages %}<|im_start|>{{ m.role }}{{ ' final:' if m.role == 'assistant' else ':' }}"
        "{{ m.content }}<|im_end|>{% endfor %}<|im_start|>assistant",
    ],
)
@pytest.mark.parametrize("end", ["", "<|im_end|>"])
def test_a_reply_stays_behind_what_it_was_generated_behind(template: str, end: str) -> None:
    builder = PromptBuilder(loquat_tokenizer(), template)
    asked = builder.encode(ChatRequest("r", (Message("user", "q"),)))
    reply = tuple(builder.tokenizer.encode(" hm</think>yes" + end))
    again = (Message("user", "q"), Message("assistant", "yes", reply), Message("user", "r"))
    ids = builder.encode(ChatRequest("r", again))
    assert ids[: len(asked) + len(reply)] == [*asked, *reply]
    ends = [n for n, token_id in enumerate(ids) if token_id in builder.tokenizer.end_ids]
    assert all(later - earlier > 2 for earlier, later in pairwise(ends)), "the end token stands there twice"


def test_a_switch_for_thinking_is_found(folder: Path) -> None:
    switch = "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"
    found = check(folder, LOOP + OPENED + switch)
    assert found.thinking is Thinking.SWITCH and found.stable


@pytest.mark.parametrize(
    ("template", "system"),
    [
        (
            LOOP.replace(
                "{% for", "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}{% for", 1
            ),
            "by loquat",
        ),
        (LOOP.replace(TEXT, "{{ m.content if m.role != 'system' }}"), "by loquat"),
        (
            "{% set first = messages[0].content ~ '\n\n' if messages[0].role == 'system' else '' %}"
            "{% for m in messages if m.role != 'system' %}<|im_start|>{{ m.role }}\n"
            "{{ first if loop.first else '' }}{{ m.content }}<|im_end|>\n{% endfor %}",
            "folded",
        ),
        (LOOP, "own"),
    ],
)
def test_what_becomes_of_a_system_message_is_told(template: str, system: str, folder: Path) -> None:
    found = check(folder, template + OPENED)
    assert found.system == system
    assert ("no_system" in kinds(found)) is (system == "by loquat")
    assert found.stable


def test_tools_are_told(folder: Path) -> None:
    hermes = "{% if tools %}{{ tools | tojson }}<tool_call>{% endif %}"
    assert check(folder, hermes + LOOP + OPENED).tools == "hermes"
    other = "{% if tools %}{{ tools | tojson }}{% endif %}"
    found = check(folder, other + LOOP + OPENED)
    assert found.tools == "" and kinds(found) == ["unknown_tools"]


def test_an_end_that_the_files_do_not_name_is_serious(folder: Path) -> None:
    found = check(folder, LOOP.replace("<|im_end|>", "<|im_start|>") + OPENED)
    assert kinds(found) == ["unknown_end"] and "<|im_start|>" in found.findings[0].sentence


def test_a_base_model_is_offered_the_plain_template(folder: Path) -> None:
    found = check(folder, None)
    assert kinds(found) == ["no_template"] and found.serious
    assert (found.held, found.template) == (Held.NONE, TemplateKind.NONE)
    assert_nothing_is_said_of_a_template(found)
    write_choices(folder, ModelChoices(plain_template=True))
    found = check_model(folder)
    assert kinds(found) == ["plain_template"] and not found.serious
    assert found.template is TemplateKind.PLAIN and found.stable


def assert_nothing_is_said_of_a_template(found: ModelCheck) -> None:
    """Beyond the findings there is only what the tokenizer tells."""
    rest = sentences(found)[len(found.findings) :]
    assert [sentence.split()[:3] for sentence in rest] == [["A", "reply", "ends"], ["The", "tokenizer", "has"]]


def test_what_a_template_reaches_for_is_named_in_plain_words(folder: Path) -> None:
    (sentence,) = (finding.sentence for finding in check(folder, "{{ ''.__class__.__mro__ }}").findings)
    assert "reaches for a part of Python (__class__) that templates may not use" in sentence
    (sentence,) = (finding.sentence for finding in check(folder, "{{ messages.append(1) }}").findings)
    assert "(append)" in sentence


@pytest.mark.parametrize(
    "template",
    [
        "{% for %}",
        "{% import 'x' as y %}",
        "{{ raise_exception('never') }}",
        "{% include '/etc/passwd' %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{{ ''.__class__.__mro__ }}",
        "x" * 10_000_000,
    ],
)
def test_a_template_that_cannot_be_used_is_found_and_the_plain_one_helps(template: str, folder: Path) -> None:
    found = check(folder, template)
    assert kinds(found) == ["broken_template"] and found.serious and found.held is Held.BROKEN
    assert len(found.findings[0].sentence) < 400 and found.findings[0].sentence.endswith(".")
    assert_nothing_is_said_of_a_template(found)
    with pytest.raises((BadModelFile, BadRequest)):
        load_prompt_builder(folder).encode(ChatRequest("r", (Message("user", "q"),)))
    write_choices(folder, ModelChoices(plain_template=True))
    plain = check_model(folder)
    assert not plain.serious
    assert_nothing_is_said_of_a_template(plain)
    assert load_prompt_builder(folder).encode(ChatRequest("r", (Message("user", "q"),)))


def test_what_was_found_is_kept_whole(folder: Path) -> None:
    found = check(folder, LOOP.replace(TEXT, STRIPPED) + OPENED)
    write_check(folder, found)
    assert read_check(folder) == found
    for damaged in ("", "[]", "{}", '{"format": 1}', '{"format": 2}', "{" * 1000, "[" * 100_000):
        (folder / CHECK).write_text(damaged, encoding="utf-8")
        assert read_check(folder) is None


def test_an_import_checks_and_keeps(folder: Path, loquat_home: Paths) -> None:
    entry = finish(Registry(loquat_home.models).add(folder, RequestHandle("add"), "tiny"))
    kept = read_check(entry.folder)
    assert kept is not None and kept.findings == () and kept.rows == 300


def edited(folder: Path, name: str, change: Callable[[dict[str, object]], None]) -> None:
    value = json.loads((folder / name).read_text(encoding="utf-8"))
    change(value)
    (folder / name).write_text(json.dumps(value), encoding="utf-8")


def more_tokens(value: dict[str, object]) -> None:
    model = value["model"]
    assert isinstance(model, dict)
    model["vocab"] |= {f"more{n}": 267 + n for n in range(40)}


def far_token(value: dict[str, object]) -> None:
    model = value["model"]
    assert isinstance(model, dict)
    model["vocab"] |= {"far": 5_000_000}


@pytest.mark.parametrize("change", [more_tokens, far_token])
def test_a_tokenizer_with_more_tokens_than_the_weights_is_refused_at_import(
    change: Callable[[dict[str, object]], None], folder: Path, loquat_home: Paths
) -> None:
    edited(folder, "tokenizer.json", change)
    with pytest.raises(BadModelFile, match="do not belong together"):
        finish(Registry(loquat_home.models).add(folder, RequestHandle("add"), "tiny"))
    with pytest.raises(BadModelFile, match=r"has tokens up to .* and the weights know 300"):
        check_model(folder)
    assert Registry(loquat_home.models).entries() == []


def test_an_end_token_beyond_the_weights_is_refused_at_import(folder: Path, loquat_home: Paths) -> None:
    edited(folder, "generation_config.json", lambda value: value.update(eos_token_id=100_000))
    with pytest.raises(BadModelFile, match="do not belong together"):
        finish(Registry(loquat_home.models).add(folder, RequestHandle("add"), "tiny"))
    assert Registry(loquat_home.models).entries() == []


def test_a_gguf_file_whose_tokenizer_has_too_many_tokens_is_refused_at_import(
    tiny_model: TinyModel, tmp_path: Path, loquat_home: Paths
) -> None:
    from tests.engine.models.gguf_files import byte_level

    source = tiny_model("llama")
    file = write_gguf(
        source, tmp_path / "tiny.gguf", tokenizer=lambda writer, size: byte_level(source)(writer, size + 9)
    )
    with pytest.raises(BadModelFile, match=r"in tiny.gguf do not belong together"):
        finish(Registry(loquat_home.models).add(file, RequestHandle("add"), "tiny"))
    assert Registry(loquat_home.models).entries() == []


@pytest.mark.parametrize("content", [b"", b"{", b'{"model": {}}', b"\xff\xfe", b"[" * 100_000, b'{"version": "1.0"}'])
def test_a_damaged_tokenizer_is_refused_at_import(content: bytes, folder: Path, loquat_home: Paths) -> None:
    (folder / "tokenizer.json").write_bytes(content)
    with pytest.raises(BadModelFile, match="tokenizer"):
        finish(Registry(loquat_home.models).add(folder, RequestHandle("add"), "tiny"))
    assert Registry(loquat_home.models).entries() == []


@pytest.fixture
def base(folder: Path, loquat_home: Paths) -> Paths:
    """A home with a base model named "base"."""
    (folder / "chat_template.jinja").unlink()
    finish(Registry(loquat_home.models).add(folder, RequestHandle("add"), "base"))
    return loquat_home


def test_the_command_says_what_it_found_and_takes_the_plain_template(
    base: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = base.models / "base"
    (model,) = listed(Registry(base.models).entries())
    assert model.template is TemplateKind.NONE and [finding.kind for finding in model.findings] == ["no_template"]
    assert run(["check", "base"], base) == 1
    assert "- The model base is a base model" in capsys.readouterr().out
    assert run(["check", "base", "--use-plain-template"], base) == 0
    assert "- Chats are written in Loquat's plain form, as you chose." in capsys.readouterr().out
    assert read_choices(folder).plain_template
    (model,) = listed(Registry(base.models).entries())
    assert model.template is TemplateKind.PLAIN and model.plain_template
    assert run(["check", "--json"], base) == 0
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert (told["event"], told["name"], told["template"]) == ("done", "base", "plain")
    assert run(["check", "base", "--use-own-template"], base) == 1
    assert not read_choices(folder).plain_template
    kept = read_check(folder)
    assert kept is not None and kept.template is TemplateKind.NONE


def test_a_model_from_before_the_checks_is_listed_by_its_files(base: Paths) -> None:
    folder = base.models / "base"
    (folder / CHECK).unlink()
    (model,) = listed(Registry(base.models).entries())
    assert model.template is TemplateKind.NONE and model.findings == ()
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")
    (model,) = listed(Registry(base.models).entries())
    assert model.template is TemplateKind.OWN


def test_the_command_names_what_is_missing(loquat_home: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "nobody"], loquat_home) == 2
    assert "There is no model named nobody" in capsys.readouterr().err
    assert run(["check", "nobody", "--json"], loquat_home) == 2
    assert json.loads(capsys.readouterr().out)["kind"] == "not_found"
