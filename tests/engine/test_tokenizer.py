"""Long texts are tokenised without the interpreter's lock, to the same ids."""

from __future__ import annotations

import threading
import time

from hypothesis import given
from hypothesis import strategies as st

from engine import tokenizer as module
from tests.engine.fakes import END, loquat_tokenizer

TOKENIZER = loquat_tokenizer()
WORDS = st.lists(
    st.sampled_from(["word ", "  ", "\n", "é", "你好", "🙂", END, "<|im_start|>", "don't", "1,234"]), min_size=1
)


@given(WORDS | st.text(min_size=1))
def test_a_long_text_has_the_ids_that_it_has_when_encoded_whole(piece):
    text = "".join(piece)
    text *= module._LONG // len(text) + 1
    inner = TOKENIZER._tokenizer
    assert TOKENIZER.encode(text) == inner.encode(text, add_special_tokens=False).ids
    assert TOKENIZER.encode_raw(text) == inner.encode(text).ids
    literally = TOKENIZER.encode_literally(text)
    inner.encode_special_tokens = True
    try:
        assert literally == inner.encode(text, add_special_tokens=False).ids
    finally:
        inner.encode_special_tokens = False


def test_other_threads_run_while_a_long_text_is_encoded():
    assert any(held_up() < 0.5 for _ in range(3))  # another program may hold one of them up


def held_up() -> float:
    """The longest time in which no other thread could run, as a part of all."""
    done, longest = threading.Event(), 0.0

    def encode() -> None:
        TOKENIZER.encode("The quick brown fox jumps over the lazy dog. " * 20_000)
        done.set()

    thread = threading.Thread(target=encode)
    began = last = time.perf_counter()
    thread.start()
    while not done.wait(0.001):
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    took = time.perf_counter() - began
    thread.join()
    return longest / took
