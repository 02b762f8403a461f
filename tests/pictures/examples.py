"""What the pictures show: example conversations, models, figures. None of it is a measurement."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from app.records import Attachment, Conversation, Folder, StoredMessage
from app.store import Store
from engine.events import InstalledModel, ModelInfo
from engine.explain.trace import TurnTrace, to_json
from engine.stats import ItlMs, TurnStats

MINUTE, HOUR, DAY = 60, 3600, 86_400

MODEL: Final = ModelInfo(
    name="smollm2",
    label="SmolLM2 135M Instruct",
    architecture="llama",
    parameters=134_515_008,
    context_limit=8192,
    device="cpu",
    device_reason="2 threads · no CUDA device found",
    dtype="int4",
    threads=2,
    weight_bytes=90_000_000,
    kv_bytes_per_token=46_080,
    load_s=1.42,
)
MODELS: Final = (
    InstalledModel("smollm2", MODEL.label, MODEL.parameters, 93_000_000, False),
    InstalledModel("qwen", "Qwen2.5 0.5B Instruct", 494_000_000, 398_000_000, True),
)
STATS: Final = TurnStats(
    prompt_tokens=653,
    cached_tokens=612,
    prefill_tokens=41,
    completion_tokens=103,
    queue_s=0.001,
    template_s=0.003,
    prefill_s=0.2,
    ttft_s=0.21,
    decode_tokens_per_s=54.2,
    itl_ms=ItlMs(17.9, 19.4, 92.0),
    kv_bytes=32_000_000,
    total_s=2.1,
)
QUESTION: Final = "Why do I wait before the first word, and then it runs steadily?"
ANSWER: Final = """Those are the two phases of generation. **Prefill** reads your whole prompt in parallel and fills \
the key-value cache; you see nothing until it is done. **Decode** then adds one token per step, each step reading \
every weight once.

```python
first = model(prompt, use_cache=True)   # prefill: decides TTFT
while not done:                         # decode: decides tokens/s
    logits, cache = model(token, cache)
    token = sample(logits)
```
"""
NEXT: Final = "And if I edit my first question now, what does that cost?"
LATER: Final = (
    "Everything after the edit must be read again, because each token's keys and values depend on all tokens before "
    "it. The part in front of the edit stays in the **cache**, so an early edit costs more than a late one."
)
PIECES: Final = tuple(word + " " for word in LATER.split())
TALK: Final = (QUESTION, ANSWER)
RICH: Final = """## Choosing a format

Three formats cover most needs. Each has *one* strength, and `loquat models add` reads the first two.

1. **GGUF** holds weights, tokenizer and template in one file:
   ```bash
   loquat models add ~/Downloads/model.Q8_0.gguf
   ```
2. **safetensors** is a folder:
   - `config.json` says what the model is
   - `tokenizer.json` turns text into tokens
3. A pickle is ~~fine~~ never loaded.

- [x] Read the header
- [ ] Check every length in it

| Format | Files | Bits per weight | Loads in |
|:-------|------:|----------------:|---------:|
| GGUF Q8_0 | 1 | 8.5 | 0.6 s |
| GGUF Q4_K | 1 | 4.5 | 0.4 s |
| safetensors | 6 | 16 | 1.1 s |

> A smaller format is not always faster: below four bits the time goes into unpacking, not reading.

推理为什么慢？因为每个词元都要读取全部权重。 More in [the documentation](https://example.org/formats). 🙂
"""
FORMULAS: Final = r"""Attention weighs the values $V$ by how well each query fits each key:

$$\mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$

With $n$ tokens and $d$ numbers in a head that is $O(n^2 d)$ without a cache, and $O(n d)$ for each new token with one.

Rotary positions turn each pair by $\theta_i = 10000^{-2i/d}$, so that

\[ \langle R_m q, R_n k \rangle = \langle q, R_{n-m} k \rangle. \]

| Symbol | Meaning |
|---|---|
| $d_k$ | width of a head |
| $\theta_i$ | angle of pair $i$ |
"""
THOUGHT: Final = """<think>
The person asks for the sum of the first hundred numbers. Pair the first with the last: 1 + 100, 2 + 99, and so on.
There are 50 pairs of 101 each, which gives 5,050.
</think>

The sum is **5,050**: fifty pairs of 101 each."""
ARABIC: Final = "ما هي ذاكرة المفاتيح والقيم؟"
ARABIC_ANSWER: Final = (
    "ذاكرة المفاتيح والقيم تحفظ ما حُسِب من قبل، فلا يُعاد حسابه مع كل كلمة جديدة.\n\n"
    "- تُملأ أولًا عند قراءة السؤال\n- ثم تنمو كلمةً كلمة\n\n> الذاكرة مقابل الوقت."
)
CHINESE: Final = "为什么第一个字要等，之后就很稳定？"
CHINESE_ANSWER: Final = (
    "这是生成的两个阶段。**预填充**并行读取整个提示词并填满键值缓存；**解码**随后每一步生成一个词元，"
    "每一步都要把全部权重读一遍。\n\n"
    "1. 预填充受计算限制，决定首词延迟。\n2. 解码受内存带宽限制，决定每秒词元数。\n\n"
    "> 缓存用内存换时间：每个词元约 45 KB。\n\n编辑第一个问题之后，`KV cache` 中后面的部分都要重新计算。"
)
PLACES: Final = (
    ("Why is the first word slow?", 2 * MINUTE),
    ("Packing list for Lisbon", HOUR),
    ("Regex for ISO dates", 3 * HOUR),
    ("Letter to the landlord", DAY),
    ("Tomato seedlings, week 3", DAY + HOUR),
    ("SQL window functions", DAY + 2 * HOUR),
    ("Reading notes: Middlemarch", 3 * DAY),
    ("推理为什么慢", 4 * DAY),
    ("Birthday speech draft", 5 * DAY),
    ("Bike gear ratios, and which of them to keep for the hills", 6 * DAY),
    ("Names for a cat 🐈", 40 * DAY),
)
NOTES: Final = Attachment("decode-notes.md", "# Decode\n\n" + "Each step reads every weight once. " * 60)
SCRIPT: Final = Attachment("measure.py", "import time\n\n" + "started = time.perf_counter()\n" * 30)


def add_conversation(
    store: Store,
    title: str,
    age: float,
    texts: Sequence[str],
    *,
    stats: Sequence[TurnStats | None] = (),
    traces: Sequence[TurnTrace] = (),
) -> Conversation:
    """Store a conversation as it would be after so many seconds; figures and traces are those of its first answers."""
    at = time.time() - age
    conversation = Conversation(title=title, created_at=at, updated_at=at, titled=True)
    messages: list[StoredMessage] = []
    for number, text in enumerate(texts):
        parent = messages[-1].id if messages else None
        message = StoredMessage(conversation.id, "user", text, parent_id=parent, created_at=at + number)
        if number % 2:
            known = stats[number // 2] if number // 2 < len(stats) else STATS
            thinking = 3.4 if "<think>" in text else None
            message = replace(message, role="assistant", model=MODEL.name, stats=known, thinking_s=thinking)
        messages.append(message)
    store.add_conversation(conversation, messages[0])
    for message in messages[1:]:
        store.finish_message(message)
    for message, trace in zip(messages[1::2], traces, strict=False):
        store.save_trace(message.id, to_json(trace))
    return conversation


def add_examples(store: Store, first: Sequence[str], traces: Sequence[TurnTrace] = ()) -> None:
    """The conversations of the sidebar, the first one with these messages and traces."""
    (title, age), *others = PLACES
    add_conversation(store, title, age, first, traces=traces)
    for title, age in others:
        add_conversation(store, title, age, (f"{title}?", "An answer."), stats=(None,))
    assert store.flush(5)


def arrange(store: Store) -> None:
    """Pins, folders and an archive among the examples."""
    listed = {chat.title: chat.id for chat in store.conversations()}
    work, home = Folder("Work"), Folder("Home and garden")
    store.add_folder(work)
    store.add_folder(home)
    store.set_pinned(listed["Why is the first word slow?"], True)
    store.set_pinned(listed["Reading notes: Middlemarch"], True)
    store.set_folder(listed["SQL window functions"], work.id)
    store.set_folder(listed["Regex for ISO dates"], work.id)
    store.set_folder(listed["Tomato seedlings, week 3"], home.id)
    store.set_archived(listed["Names for a cat 🐈"], True)
    store.set_archived(listed["Birthday speech draft"], True)
    assert store.flush(5)


def add_history(store: Store, trace: TurnTrace) -> None:
    """Sixty answers over three weeks; a newer version of the program made them slower."""
    for day in range(20, 0, -1):
        version, rate, ttft = ("0.6.0", 56.0, 0.14) if day < 7 else ("0.5.2", 75.0, 0.09)
        noted = replace(trace, model=replace(trace.model, version=version, dtype="int4", threads=2, device="cpu"))
        stats = [
            replace(
                STATS,
                prompt_tokens=400 + 900 * turn + 60 * day,
                cached_tokens=340 + 900 * turn + 60 * day,
                prefill_tokens=60,
                decode_tokens_per_s=rate - 4 * turn - (day % 5),
                ttft_s=ttft + 0.03 * turn,
            )
            for turn in range(3)
        ]
        texts = [text for turn in range(3) for text in (f"Question {turn + 1} of that day", "An answer.")]
        title = f"Notes of day {21 - day}"
        add_conversation(store, title, day * DAY + HOUR, texts, stats=stats, traces=[noted] * 3)
    assert store.flush(5)
