"""A conversation's title, by the model itself, in idle time: one more question at the end of what its cache holds."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from engine.chat import ChatRequest, Message
from engine.config import GREEDY
from engine.estimate import about_tokens
from engine.generate import decode, prefill_all
from engine.kv_cache import KVCache
from engine.loader import LoadedModel
from engine.sampler import Sampler
from engine.turn import fit_to_context

QUESTION: Final = (
    "Give this conversation a title of at most six words, in the language of the conversation. "
    "Write the title alone, without quotes."
)
BEGUN: Final = 'Title: "'  # a small model chats instead of giving a title, unless it is led to one
LONGEST: Final = 60  # characters
_TOKENS: Final = 24
_MOST_NEW: Final = 256  # tokens; where more would have to be read, the cache is not at hand and a title not worth it
_WORDS: Final = 9  # an answer of more words is no title
_STEM: Final = 5  # letters
_ENOUGH: Final = 20_000  # characters of a message to look for its words in
_WORD: Final = re.compile(r"[^\W_]+")
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
# They stand in any question or title, and tell nothing of what it is about.
_COMMON_WORDS: Final = (
    "a about above after all also am an and another any are as at be because been before being below between both but "
    "by can could did do does doing done down during each either else every few for from further get give given gives "
    "had has have having he her here hers him his how i if in into is it its itself just let like ll made make makes "
    "making many may me might more most much must my name need new no nor not now of off on once one only or other our "
    "out over own please put quite re same say see shall she should show so some such take tell than that the their "
    "them then there these they thing things this those three through to too tale title two under until up upon us use "
    "used using ve very want was way we well were what when where which while who whom why will with within without "
    "would write you your describe description explain explained explanation list question questions answer answers "
    "guide introduction overview summary story discussion conversation chat "
    "der die das den dem des ein eine einen einem einer und oder ist sind nicht mit von zu zum zur im auf für wie was "
    "le la les un une des du de et ou est sont pas avec pour dans sur que qui quoi comment au aux ce cette "
    "el los las una unos unas del y o es son no con por para en se su como qué cómo "
    "il lo gli di da non per che come e sono"
)
_COMMON: Final = frozenset(_COMMON_WORDS.split())


def make_title(model: LoadedModel, request: ChatRequest, stop: Callable[[], bool]) -> str | None:
    """Ask the model for a title, greedily, on top of the conversation's own cache, which is left as it was.

    Args:
        model: Who has answered, and names the conversation.
        request: The conversation so far; its last message is an answer.
        stop: Polled per chunk and token.

    Returns:
        The title; "" if there is none to be had; None if it was stopped.
    """
    asked = dataclasses.replace(request, messages=(*request.messages, Message("user", QUESTION)), continue_reply=False)
    fitted = fit_to_context(model, asked)
    if about_tokens(fitted.messages, model.runner.context_limit):
        return ""
    ids = model.prompt.ids(fitted.messages, request.started_on, thinking=False) + model.prompt.text_ids(BEGUN)
    own = model.store.own(request.conversation_id)
    fits = len(ids) + _TOKENS < model.runner.context_limit
    if own is None or not fits or own.covers(ids) < len(ids) - _MOST_NEW:
        return ""
    try:
        with _borrowed(own, ids, model, stop) as cache:
            text = _answer(cache, ids, model, stop)
    finally:
        model.store.end(request.conversation_id, stop)
    if text is None:
        return None
    title = clean(text)
    return title if is_about(title, request.messages) else ""


def clean(text: str) -> str:
    """The title in what a model said: one line without quotes, Markdown, "Title:" or a full stop; "" if it is none."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    line = re.sub(r"^\W*(title|titel|titre|título|标题)\W*[:\uff1a]", "", line, flags=re.IGNORECASE)
    line = " ".join(re.sub(r"[*_`#~]|<[^>]*>?", "", line).split())
    line = re.sub(r"^[^\w(]+|[^\w)?+%]+$", "", line)
    words = line.split()
    fits = len(line) <= LONGEST and len(words) <= _WORDS and any(char.isalnum() for char in line)
    if not fits or text.lstrip().startswith("<"):
        return ""
    first = words[0]
    return line[0].upper() + line[1:] if first.islower() else line


def is_about(title: str, messages: Sequence[Message]) -> bool:
    """Whether a title shares a word that means something with the first question or its answer.

    A small model makes up titles of nothing that was talked of. Words are compared by their first five letters; of
    scripts that put no spaces between words, two characters side by side are.
    """
    first = next((n for n, message in enumerate(messages) if message.role == "user"), len(messages))
    said = " ".join(message.content[:_ENOUGH] for message in messages[first : first + 2]).casefold()
    return bool(_content(title.casefold()) & _content(said))


def _content(text: str) -> set[str]:
    """What of a text tells what it is about."""
    words = {word for word in _WORD.findall(text) if len(word) > 1 and word not in _COMMON}
    pairs = {run[n : n + 2] for run in _UNSPACED.findall(text) for n in range(len(run) - 1)}
    return {word.rstrip("s")[:_STEM] for word in words if not _UNSPACED.search(word)} | pairs


@contextmanager
def _borrowed(own: KVCache, ids: Sequence[int], model: LoadedModel, stop: Callable[[], bool]) -> Iterator[KVCache]:
    """The cache to ask on: a conversation's own, restored afterwards, or a copy where it could not be restored."""
    kept = own.covers(ids)
    if own.stateful:
        yield own.copy(kept)
        return
    rest = own.ids[kept:]  # a draft that was read ahead
    yield own
    own.crop(kept)
    prefill_all(own, rest, model.pacer, stop)


def _answer(cache: KVCache, ids: Sequence[int], model: LoadedModel, stop: Callable[[], bool]) -> str | None:
    """What the model says up to the closing quote; "" if it comes to no end, None if it was stopped."""
    logits = prefill_all(cache, cache.reuse(ids), model.pacer, stop)
    if logits is None:
        return None
    tokenizer = model.prompt.tokenizer
    said: list[int] = []
    for token_id in decode(cache, logits, Sampler(GREEDY, model.runner.vocab_size), _TOKENS, stop):
        if token_id in tokenizer.end_ids:
            return tokenizer.decode(said)
        said.append(token_id)
        if ended := re.match(r'(.+?)["\n]', tokenizer.decode(said).lstrip()):
            return ended[1]
    return None if stop() else ""
