"""Messages -> token ids through the model's own chat template, byte-stable from turn to turn.

A reply enters as the ids that were generated: it is rendered as a placeholder and its ids are put in the
placeholder's place, so the text is never tokenised again and a template that rewrites old replies (for
example by dropping their thinking) cannot break the prefix that the KV cache holds.
"""

from __future__ import annotations

import datetime
import functools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from engine.chat import ChatRequest, Message
from engine.detokenizer import StopStrings
from engine.errors import BadModelFile, BadRequest
from engine.kv_cache import common_prefix
from engine.models.choices import read_choices
from engine.templates.budget import TooCostly
from engine.templates.plain import PLAIN_TEMPLATE, STOPS, TemplateKind, first_stop, spaced
from engine.templates.sandbox import LONGEST, ChatTemplate, OutOfReach
from engine.tokenizer import Tokenizer, load_tokenizer, read_json
from engine.tools import tool_style

_UNSTABLE_TOKENS: Final = 3
_PIECES_KEPT: Final = 256
_REASON: Final = 200  # characters of what a template says
_LITERAL, _GENERATED = "\ue001", "\ue002"  # close a mark: whose ids stand there
_PROBES: Final = ("\ue000system\ue001", "\ue000user\ue001")


class PromptBuilder:
    """Builds the prompt's token ids for one model.

    Args:
        tokenizer: The model's tokenizer.
        template: Jinja source of its chat template.
        kind: Whose template it is. With "none", only raw prompts can be encoded.
        name: The model's, for sentences.

    Attributes:
        kind: The same.
        tool_style: How the model writes calls of tools; None if it is not told of any.
        stops: Strings that end a reply besides the model's end tokens, with no part of them belonging to it.

    Raises:
        Exception: See `ChatTemplate`.
    """

    def __init__(
        self, tokenizer: Tokenizer, template: str, kind: TemplateKind = TemplateKind.OWN, name: str = ""
    ) -> None:
        self.tokenizer = tokenizer
        self.kind = kind
        self.stops = STOPS if kind is TemplateKind.PLAIN else ()
        # A history is tokenised again every turn, and some of it twice to see whether it fits: only new text costs.
        self._encode = functools.lru_cache(_PIECES_KEPT)(tokenizer.encode)
        self._template = ChatTemplate(template)
        self._name = name
        self._special = {"bos_token": "", "eos_token": "", **tokenizer.special}
        if kind is TemplateKind.PLAIN:
            self._special["bos_token"] = tokenizer.decode_all(tokenizer.encode_raw("")[:1])
        self.tool_style = tool_style(template)

    def stop_strings(self, request: ChatRequest) -> StopStrings:
        """What ends the text of the reply to a request; a base model's also begins with the blank behind its role."""
        chat = request.prompt is None and not request.continue_reply
        return StopStrings(self.stops_of(request), trim=chat and self.kind is TemplateKind.PLAIN)

    def stops_of(self, request: ChatRequest) -> tuple[str, ...]:
        """All strings that end the reply to a request."""
        return request.params.stop if request.prompt is not None else (*request.params.stop, *self.stops)

    def encode(self, request: ChatRequest) -> list[int]:
        """The whole prompt of a request, up to where the reply begins, or goes on.

        Raises:
            BadRequest: There is nothing to answer, or the template refuses these messages.
        """
        if request.prompt is not None:
            return self._raw_ids(request.prompt)
        _check(request)
        if request.tools and self.tool_style is None:
            raise BadRequest("This model's chat template knows no tools; ask without them, or choose another model.")
        if request.continue_reply:
            *history, begun = request.messages
            return [*self.ids(history, request.started_on, tools=request.tools), *self.reply_ids(begun)]
        return self.ids(request.messages, request.started_on, tools=request.tools)

    def _raw_ids(self, prompt: str | Sequence[int]) -> list[int]:
        ids = self.tokenizer.encode_raw(prompt) if isinstance(prompt, str) else list(prompt)
        if not ids:
            raise BadRequest("The prompt is empty; write something first.")
        if any(not 0 <= token_id < self.tokenizer.size for token_id in ids):
            raise BadRequest(f"The prompt names a token that the model lacks; it has 0 to {self.tokenizer.size - 1:,}.")
        return ids

    def reply_ids(self, begun: Message) -> tuple[int, ...]:
        """The ids of a reply that is to go on: those it was generated with, or those of its text; no end token."""
        if begun.token_ids is None:
            return tuple(self.tokenizer.encode_literally(self._spelled(begun)))
        return tuple(self._within_stops(self._unended(begun.token_ids)))

    def _unended(self, ids: Sequence[int]) -> list[int]:
        end = len(ids)
        while end and ids[end - 1] in self.tokenizer.end_ids:
            end -= 1
        return list(ids[:end])

    def _within_stops(self, ids: list[int]) -> list[int]:
        """The ids of a reply without those that go beyond a stop string of the template."""
        if not self.stops or not ids or min(ids) < 0:  # negative ids stand for texts that are only being counted
            return ids
        text = self.tokenizer.decode(ids)
        cut = first_stop(text, self.stops)
        if cut is None:
            return ids
        kept = len(ids)
        while kept and not text[:cut].startswith(self.tokenizer.decode(ids[:kept])):
            kept -= 1
        # The last token may have reached over the stop string's beginning: what of it belongs to the reply stays.
        rest = text[len(self.tokenizer.decode(ids[:kept])) : cut]
        return ids[:kept] + (self.tokenizer.encode_literally(rest) if rest else [])

    def text_ids(self, text: str) -> list[int]:
        """Ids of a message's text alone, special tokens written in it read as ordinary text."""
        return self.tokenizer.encode_literally(text) if self.tokenizer.names_special(text) else self._encode(text)

    def count(self, messages: Sequence[Message], started_on: str) -> int:
        """Tokens of a prompt made of these messages alone, which need not end with a question."""
        return len(self.ids(messages, started_on)) if messages else 0

    def stable_prefix(self, request: ChatRequest) -> list[int]:
        """The beginning of the prompt that stays, however the newest message, a draft, goes on.

        The last tokens of the draft are left out, because the next letters may merge with them.
        """
        *history, draft = request.messages
        one, other = (self.ids([*history, Message("user", draft.content + more)], request.started_on) for more in "a\n")
        common = common_prefix(one, other)
        return one[: max(0, common - _UNSTABLE_TOKENS)] if draft.content else one[:common]

    def ids(self, messages: Sequence[Message], started_on: str, *, thinking: bool = True, tools: str = "") -> list[int]:
        """Token ids of these messages and of the beginning of a reply to them.

        Args:
            messages: Whichever they are; unlike `encode`, nothing has to be answered.
            started_on: As in `ChatRequest`.
            thinking: False asks for a reply without thinking, of templates that know the wish; the messages' own ids
                stay the same.
            tools: As in `ChatRequest`.

        Raises:
            BadRequest: The template refuses these messages.
        """
        if self.kind is TemplateKind.NONE:
            raise BadRequest(
                f"The model {self._name} is a base model: it continues texts and has no chat template. To chat with it "
                f"in Loquat's plain form, run: loquat models check {self._name} --use-plain-template"
            )
        mark = _unused_mark(messages, tools)
        spliced: list[list[int]] = []
        placeheld = [self._placeheld(message, mark, spliced) for message in messages]
        wishes: dict[str, Any] = {} if thinking else {"enable_thinking": False}
        wishes["tools"] = json.loads(tools) if tools else None  # as transformers does: always there, None for none
        return self._splice(self._render(placeheld, started_on, wishes), mark, spliced)

    def _placeheld(self, message: Message, mark: str, spliced: list[list[int]]) -> dict[str, Any]:
        """The message for the template, its content replaced by a mark where ids are known or must be literal."""
        ids = self._known_ids(message)
        content = self._spelled(message)
        if ids is not None:
            generated = message.token_ids is not None and message.role == "assistant"
            content = f"{mark}{len(spliced)}{_GENERATED if generated else _LITERAL}"
            spliced.append(ids)
        return {"role": message.role, "content": content, **(json.loads(message.extra) if message.extra else {})}

    def _known_ids(self, message: Message) -> list[int] | None:
        if message.token_ids is not None and message.role == "assistant":
            # In the plain form nothing stands between a reply and the next question, no end token either.
            return self._within_stops(self._unended(message.token_ids)) if self.stops else list(message.token_ids)
        if message.token_ids is not None:
            return list(message.token_ids)
        if self.tokenizer.names_special(message.content):
            return self.tokenizer.encode_literally(self._spelled(message))
        return None

    def _spelled(self, message: Message) -> str:
        return spaced(message.role, message.content) if self.kind is TemplateKind.PLAIN else message.content

    def _render(self, messages: list[dict[str, Any]], started_on: str, wishes: dict[str, Any]) -> str:
        if len(messages) > 1 and (messages[0]["role"], messages[1]["role"]) == ("system", "user") and self.folds_system:
            system, user, *rest = messages
            messages = [{**user, "content": f"{system['content']}\n\n{user['content']}"}, *rest]
        try:
            return self.text(messages, started_on, **wishes)
        except Exception as error:  # a template is foreign code and can fail in any way
            raise BadRequest(_refusal(error), repr(error)) from error

    def text(self, messages: Sequence[dict[str, Any]], started_on: str = "", **wishes: Any) -> str:  # noqa: ANN401
        """What the template makes of messages in its own form, with the beginning of a reply.

        Raises:
            TooCostly: It took more time or memory than it may.
            Exception: Whatever the template does wrong.
        """
        day = datetime.date.fromisoformat(started_on) if started_on else datetime.date(2000, 1, 1)
        values = {"messages": messages, "add_generation_prompt": True, "strftime_now": day.strftime}
        return self._template.render({**self._special, **values, "tools": None, **wishes})

    @functools.cached_property
    def _seam(self) -> tuple[str, str]:
        """What the template writes in front of an earlier reply, and in front of one that is to come.

        Many leave out of the former what they have every reply begin with ("<think>"), or write more than a model is
        given (a blank, a channel). A reply that was generated stays behind what it was generated behind, so that the
        prompt is what the cache holds.
        """
        roles = ("user", "assistant")
        asked, answered = ({"role": role, "content": text} for role, text in zip(roles, _PROBES, strict=True))
        try:
            earlier = self.text([asked, answered, asked]).partition(_PROBES[0])[2].partition(_PROBES[1])[0]
            return earlier, self.text([asked]).rpartition(_PROBES[0])[2]
        except Exception:  # as above
            return "", ""

    @functools.cached_property
    def folds_system(self) -> bool:
        """Whether a system message has to be put in front of the first question, because the template takes none."""
        system, user = ({"role": role, "content": text} for role, text in zip(("system", "user"), _PROBES, strict=True))
        try:
            return _PROBES[0] not in self.text([system, user])
        except Exception:
            return True

    def _splice(self, text: str, mark: str, spliced: Sequence[list[int]]) -> list[int]:
        """Tokenise the text between the marks and put the known ids in their places."""
        pieces = re.split(f"{mark}(\\d+)([{_LITERAL}{_GENERATED}])", text)
        texts, numbers, kinds = pieces[::3], pieces[1::3], pieces[2::3]
        ids: list[int] = []
        for n, piece in enumerate(texts):
            if n:
                ids += spliced[int(numbers[n - 1])]
            earlier, begun = self._seam if kinds[n : n + 1] == [_GENERATED] else ("", "")
            ids += self._following(ids, piece.removesuffix(earlier) + begun if piece.endswith(earlier) else piece)
        return ids

    def _following(self, ids: Sequence[int], piece: str) -> list[int]:
        """The ids of a piece of text behind others, without the end token that a reply already ended with."""
        if ids and ids[-1] in self.tokenizer.end_ids:
            ended = self._encode(piece.lstrip())
            if ended[:1] == [ids[-1]]:
                return ended[1:]
        return self._encode(piece)


def load_prompt_builder(folder: Path) -> PromptBuilder:
    """The prompt builder of a model folder, with Loquat's plain template where the person chose that.

    Raises:
        BadModelFile: The tokenizer or the template is missing or damaged.
    """
    tokenizer = load_tokenizer(folder)
    if read_choices(folder).plain_template:
        return PromptBuilder(tokenizer, PLAIN_TEMPLATE, TemplateKind.PLAIN, folder.name)
    source = read_template(folder)
    try:
        return PromptBuilder(tokenizer, source, TemplateKind.OWN if source else TemplateKind.NONE, folder.name)
    except Exception as error:  # a template is foreign code and can fail in any way
        raise BadModelFile(
            f"The chat template of the model {folder.name} cannot be used: {_reason(error)}. To chat with it in "
            f"Loquat's plain form, run: loquat models check {folder.name} --use-plain-template",
            repr(error),
        ) from error


def read_template(folder: Path) -> str:
    """The chat template's source, "" when the model has none.

    Raises:
        BadModelFile: It cannot be read.
    """
    file = folder / "chat_template.jinja"
    if file.is_file():
        try:
            with file.open(encoding="utf-8", newline="") as text:
                return text.read(LONGEST + 1)  # more is refused, whatever it says
        except (OSError, ValueError) as error:
            raise BadModelFile(f"{file.name} cannot be read; remove the model and add it again.", str(error)) from error
    template = read_json(folder / "tokenizer_config.json").get("chat_template")
    if isinstance(template, list):
        named = {entry.get("name"): entry.get("template") for entry in template if isinstance(entry, dict)}
        template = named.get("default")
    return template if isinstance(template, str) else ""


def _check(request: ChatRequest) -> None:
    messages = request.messages
    if request.continue_reply:
        if not messages or messages[-1].role != "assistant":
            raise BadRequest("There is no answer to continue; ask a question first.")
        messages = messages[:-1]
    if not messages or messages[-1].role not in ("user", "tool"):
        raise BadRequest("There is no question to answer; write one first.")
    if messages[-1].role == "user" and not messages[-1].content.strip():
        raise BadRequest("The question is empty; write something first.")


def _unused_mark(messages: Sequence[Message], tools: str) -> str:
    """A private-use marker that stands in no message and no tool."""
    mark = "\ue000"
    while mark in tools or any(mark in message.content or mark in message.extra for message in messages):
        mark += "\ue000"
    return mark


def _refusal(error: Exception) -> str:
    if isinstance(error, TooCostly | RecursionError):
        return "The model's chat template does not come to an end; choose another model, or Loquat's plain template."
    if isinstance(error, OutOfReach):
        return (
            f"The model's chat template reaches for a part of Python ({_reason(error)}) that templates may not use; "
            "choose another model, or Loquat's plain template."
        )
    return f"The model's chat template refuses this chat: {_reason(error)}."


def _reason(error: Exception) -> str:
    """What a template's error says, in one line that is not too long."""
    return " ".join(str(error).split()).rstrip(".")[:_REASON] or type(error).__name__
