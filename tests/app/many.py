"""Databases with many conversations, for what must be fast and for what must be found again."""

from __future__ import annotations

import random
from pathlib import Path

from app.db_writer import connect
from app.migrations import migrate
from app.records import Conversation, StoredMessage
from app.rows import tree_statements

WORDS_OF_A_MESSAGE = (10, 110)
RARE = "quetzalcoatlus"
DAY_S = 86_400.0


def vocabulary(random_source: random.Random, size: int = 20_000) -> list[str]:
    """Words as long as English ones; those at the beginning are meant to be common."""
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    weights = [1.0 / (1 + at) for at in range(len(letters))]
    return ["".join(random_source.choices(letters, weights, k=random_source.randint(2, 9))) for _ in range(size)]


def fill(path: Path, conversations: int, messages: int, seed: int = 1) -> None:
    """Write a database of so many conversations of so many messages; one message in 5,000 has the word `RARE`.

    Words are drawn by Zipf's law, one message in ten is Chinese.
    """
    source = random.Random(seed)
    words = vocabulary(source)
    totals = [0.0]
    for rank in range(len(words)):
        totals.append(totals[-1] + 1.0 / (rank + 2.7))
    db = connect(path)
    db.execute("PRAGMA synchronous = OFF")
    migrate(db)
    db.execute("BEGIN")
    for number in range(conversations):
        talk = Conversation(id=f"c{number}", title=" ".join(source.choices(words, cum_weights=totals[1:], k=4)))
        talk = Conversation(talk.id, talk.title, created_at=number * DAY_S / 10, updated_at=number * DAY_S / 10)
        made = [
            StoredMessage(
                talk.id,
                "assistant" if at % 2 else "user",
                _text(source, words, totals[1:], number * messages + at),
                id=f"{talk.id}m{at}",
                parent_id=f"{talk.id}m{at - 1}" if at else None,
                created_at=talk.created_at + at,
            )
            for at in range(messages)
        ]
        for statement, values in tree_statements(talk, made, {}):
            db.execute(statement, values)
    db.execute("COMMIT")
    db.close()


def _text(source: random.Random, words: list[str], totals: list[float], number: int) -> str:
    count = source.randint(*WORDS_OF_A_MESSAGE)
    if number % 10 == 7:
        return "".join(chr(0x4E00 + int(source.expovariate(1 / 300)) % 3000) for _ in range(count)) + "。"
    text = " ".join(source.choices(words, cum_weights=totals, k=count))
    return f"{text} {RARE}" if number % 5000 == 4999 else text
