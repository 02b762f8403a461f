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
from engine.generate import decode, prefill
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
    return None if text is None else clean(text)


def clean(text: str) -> str:
    """The title in what a model said: one line without quotes, Markdown, "Title:" or a full stop; "" if it is none."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    line = re.sub(r"^\W*(title|titel|titre|título|标题)\W*[:\uff1a]", "", line, flags=re.IGNORECASE)
    line = " ".join(re.sub(r"[*_`#~]|<[^>]*>?", "", line).split())
    line = re.sub(r"^[^\w(]+|[^\w)?!+%]+$", "", line)
    fits = len(line) <= LONGEST and len(line.split()) <= _WORDS and any(char.isalnum() for char in line)
    return line if fits and not text.lstrip().startswith("<") else ""


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
    for _ in prefill(own, rest, model.pacer, stop):
        pass


def _answer(cache: KVCache, ids: Sequence[int], model: LoadedModel, stop: Callable[[], bool]) -> str | None:
    """What the model says up to the closing quote; "" if it comes to no end, None if it was stopped."""
    steps = prefill(cache, cache.reuse(ids), model.pacer, stop)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            logits = end.value
            break
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
