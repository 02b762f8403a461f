"""Looks a model's chat template and tokenizer over: with a few small conversations, before anybody talks to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.chat import Message
from engine.errors import BadModelFile, BadRequest
from engine.kv_cache import common_prefix
from engine.models.choices import read_choices
from engine.prompt import PromptBuilder, read_template
from engine.templates.checked import Finding, Held, History, ModelCheck, SystemMessage, Thinking
from engine.templates.plain import PLAIN_TEMPLATE, TemplateKind
from engine.templates.probe import DAY, QUESTIONS, REPLIES, SYSTEM, TEXTS, THOUGHT, TOOL, TOOL_NAME
from engine.tokenizer import Tokenizer, load_tokenizer, read_json

_FIRST, _SECOND, _ = QUESTIONS


def check_model(folder: Path) -> ModelCheck:
    """Check the model in `folder`; takes what reading its tokenizer takes, and a few milliseconds.

    Raises:
        BadModelFile: The tokenizer cannot be read, or does not belong to the model's weights.
    """
    tokenizer = load_tokenizer(folder)
    rows = check_tokenizer(folder, tokenizer)
    source = read_template(folder)
    held, why = _held(tokenizer, source)
    plain = read_choices(folder).plain_template
    kind = TemplateKind.PLAIN if plain else TemplateKind.OWN if held is Held.USABLE else TemplateKind.NONE
    builder = PromptBuilder(tokenizer, PLAIN_TEMPLATE if plain or held is not Held.USABLE else source, _shown(kind))
    look = _Look(builder, source if kind is TemplateKind.OWN else "")
    found = [*_of_template(folder.name, held, kind, why), *look.findings(), *_of_tokenizer(tokenizer, look)]
    return ModelCheck(
        held=held,
        template=kind,
        system=look.system,
        thinking=look.thinking,
        history=look.history,
        stable=look.stable,
        tools=look.tools,
        ends=tuple(sorted(tokenizer.decode_all([token_id]) for token_id in tokenizer.end_ids)),
        tokens=tokenizer.size,
        rows=rows,
        findings=tuple(sorted(found, key=lambda finding: not finding.serious)),
    )


def check_tokenizer(folder: Path, tokenizer: Tokenizer) -> int:
    """See that every token is a row of the embedding, so that none fails in the middle of an answer; the rows.

    Raises:
        BadModelFile: One is not.
    """
    config = read_json(folder / "config.json")
    rows = config.get("vocab_size") or (config.get("text_config") or {}).get("vocab_size")
    if not isinstance(rows, int):
        raise BadModelFile(f"The model {folder.name} does not say how many tokens it knows; get it again.")
    largest = max([tokenizer.largest_id, *tokenizer.end_ids])
    if not 0 <= largest < rows:
        raise BadModelFile(
            "The model's tokenizer and its weights do not belong together: the tokenizer has tokens up to "
            f"{largest:,}, and the weights know {rows:,}; get the model again.",
        )
    return rows


def _shown(kind: TemplateKind) -> TemplateKind:
    """A model that cannot be chatted with yet is looked at as if its person had agreed to the plain template."""
    return TemplateKind.PLAIN if kind is TemplateKind.NONE else kind


def _held(tokenizer: Tokenizer, source: str) -> tuple[Held, str]:
    """Whether a template can be used at all, and why not."""
    if not source:
        return Held.NONE, ""
    try:
        PromptBuilder(tokenizer, source).ids([Message("user", _FIRST)], DAY)
    except BadRequest as error:
        return Held.BROKEN, error.sentence
    except Exception as error:  # a template is foreign code and can fail in any way
        return (
            Held.BROKEN,
            f"The model's chat template cannot be used: {' '.join(str(error).split())[:200].rstrip('.')}.",
        )
    return Held.USABLE, ""


def _of_template(name: str, held: Held, kind: TemplateKind, why: str) -> Iterator[Finding]:
    if held is Held.BROKEN:
        yield Finding("broken_template", why, serious=kind is not TemplateKind.PLAIN)
    if held is Held.NONE and kind is TemplateKind.NONE:
        yield Finding(
            "no_template",
            f"The model {name} is a base model: it continues texts and was not taught to chat. "
            "Loquat can talk with it in a plain form, if you agree.",
            serious=True,
        )
    if kind is TemplateKind.PLAIN:
        yield Finding("plain_template", "Chats are written in Loquat's plain form, as you chose.", serious=False)


@dataclass(frozen=True, slots=True)
class _Ends:
    """What a template writes behind a reply: its first special token, and whether that ends a reply."""

    text: str
    known: bool


class _Look:
    """A template, tried with small conversations."""

    def __init__(self, builder: PromptBuilder, source: str) -> None:
        self._builder = builder
        self._source = source
        self.system = self._system()
        self.thinking = self._thinking()
        self.stable = self._stable(system=False) and self._stable(system=True)
        self.history = self._history()
        self.ends = self._ends()
        self.tools = self._tools()

    def findings(self) -> Iterator[Finding]:
        """What a person should know of it."""
        if not self.stable:
            yield Finding(
                "unstable",
                "The chat template writes earlier messages differently as a conversation grows, so that more has to "
                "be read again at each question.",
                serious=True,
            )
        if self.system is SystemMessage.BY_LOQUAT:
            yield Finding(
                "no_system",
                "The chat template takes no system message; Loquat puts it in front of the first question.",
                serious=False,
            )
        if self.history is History.UNTHOUGHT:
            yield Finding(
                "thinking_stripped",
                "The chat template leaves the thinking out of earlier replies; Loquat keeps it, so that nothing is "
                "read twice.",
                serious=False,
            )
        if self.ends is not None and not self.ends.known:
            yield Finding(
                "unknown_end",
                f"The chat template ends a reply with {self.ends.text}, which the model's files do not name as an "
                "end: replies may not stop.",
                serious=True,
            )
        if not self.tools and "tools" in self._source:
            yield Finding(
                "unknown_tools",
                "The chat template writes calls of tools in a way that Loquat does not read; tools are refused.",
                serious=False,
            )

    def _text(self, *messages: tuple[str, str], **wishes: Any) -> str | None:  # noqa: ANN401
        """What the template makes of messages; None where it refuses them."""
        try:
            return self._builder.text([{"role": role, "content": text} for role, text in messages], DAY, **wishes)
        except Exception:  # a template is foreign code and can fail in any way
            return None

    def _system(self) -> SystemMessage:
        both = self._text(("system", SYSTEM), ("user", _FIRST))
        if both is None or SYSTEM not in both:
            return SystemMessage.BY_LOQUAT
        asked = self._text(("user", SYSTEM)) or ""
        folded = both.partition(SYSTEM)[0] == asked.partition(SYSTEM)[0]
        return SystemMessage.FOLDED if folded else SystemMessage.OWN

    def _thinking(self) -> Thinking:
        asked = ("user", _FIRST)
        if "enable_thinking" in self._source and self._text(asked) != self._text(asked, enable_thinking=False):
            return Thinking.SWITCH
        return Thinking.ALWAYS if "<think>" in (self._text(asked) or "") else Thinking.NONE

    def _tools(self) -> str:
        """How calls are written, where a tool is really told of."""
        told = self._text(("user", _FIRST), tools=[TOOL]) or ""
        return str(self._builder.tool_style or "") if TOOL_NAME in told else ""

    def _history(self) -> History:
        if not self.stable:
            return History.REWRITTEN
        thought = f"<think>\n{THOUGHT}\n</think>\n\n{REPLIES[0]}"
        text = self._text(("user", _FIRST), ("assistant", thought), ("user", _SECOND))
        return History.UNTHOUGHT if text is not None and THOUGHT not in text else History.KEPT

    def _stable(self, *, system: bool) -> bool:
        """Whether each prompt goes on with the one before it and its reply, as the KV cache holds them."""
        messages = [Message("system", SYSTEM)] if system else []
        before: list[int] = []
        for question, reply in zip(QUESTIONS, (*REPLIES, ""), strict=True):
            messages.append(Message("user", question))
            try:
                ids = self._builder.ids(messages, DAY)
            except BadRequest:
                return False
            if common_prefix(before, ids) < len(before):
                return False
            spoken = self._builder.tokenizer.encode(reply)
            messages.append(Message("assistant", reply, tuple(spoken)))
            before = [*ids, *spoken]
        return True

    def _ends(self) -> _Ends | None:
        """The first special token behind a reply; None if there is none, or another message begins with it."""
        text = self._text(("user", _FIRST), ("assistant", REPLIES[0]), ("user", _SECOND))
        if text is None or REPLIES[0] not in text or _SECOND not in text:
            return None
        tokenizer = self._builder.tokenizer
        between = text.partition(REPLIES[0])[2].partition(_SECOND)[0]
        special = [token_id for token_id in tokenizer.encode(between) if token_id in tokenizer.special_ids]
        return _Ends(tokenizer.decode_all(special[:1]), special[0] in tokenizer.end_ids) if special else None


def _of_tokenizer(tokenizer: Tokenizer, look: _Look) -> Iterator[Finding]:
    if not tokenizer.end_ids:
        yield Finding(
            "no_end",
            "The model's files name no token that ends a reply: replies go on until their limit.",
            serious=True,
        )
    lost = [text for text in TEXTS if tokenizer.decode(tokenizer.encode(text)).strip() != text.strip()]
    if lost:
        yield Finding(
            "lossy_tokenizer",
            f"The tokenizer does not give every text back as it was, {lost[0]} for example.",
            serious=False,
        )


def sentences(check: ModelCheck) -> Sequence[str]:
    """What was found, in sentences; what is wrong first.

    What the plain form does is left out: it says nothing of the model, and stands for what its own template would do.
    """
    said = [
        *(finding.sentence for finding in check.findings),
        *(_of_own(check) if check.template is TemplateKind.OWN else ()),
        f"A reply ends with {' or '.join(check.ends)}." if check.ends else "",
        f"The tokenizer has {check.tokens:,} tokens, the embedding {check.rows:,} rows.",
    ]
    return [sentence for sentence in said if sentence]


def _of_own(check: ModelCheck) -> Sequence[str]:
    """What the model's own template does."""
    systems = {
        SystemMessage.OWN: "A system message has a role of its own.",
        SystemMessage.FOLDED: "A system message becomes a part of the first question.",
        SystemMessage.BY_LOQUAT: "",
    }
    thinking = {
        Thinking.NONE: "",
        Thinking.ALWAYS: "The model thinks before it answers.",
        Thinking.SWITCH: "The model can think before it answers, or be asked not to.",
    }
    stays = "A longer conversation's prompt begins with the shorter one's: what was read once stays."
    tools = f"Tools can be called, in the form of {check.tools}." if check.tools else ""
    return stays if check.stable else "", systems[check.system], thinking[check.thinking], tools
