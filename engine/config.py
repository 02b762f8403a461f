"""How the engine is set up and how it samples: frozen values whose bounds are checked on construction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DTYPES: Final = ("auto", "int4", "int8", "nf4", "float32", "bfloat16", "float16")
KV_DTYPES: Final = ("auto", "float32", "float16", "bfloat16", "int8")
DEVICES: Final = ("auto", "cuda", "mps", "cpu")
MAX_SEED: Final = 2**63 - 1
MAX_LOGPROBS: Final = 20
_COLDEST: Final = 1e-5  # logits divided by less than that could become infinite; they say nothing but their largest


def _check(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name} must be between {low:,} and {high:,}, not {value:,}.")


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How the next token is chosen from the logits, and when a reply ends.

    Attributes:
        temperature: Divides the logits; 0, and what is next to it, is greedy decoding.
        top_k: Keep the k likeliest tokens; 0 keeps all.
        top_p: Keep the smallest set with this probability mass (Holtzman et al. 2020, section 3.1).
        min_p: Keep tokens at least this fraction as likely as the likeliest (Nguyen et al. 2024).
        repetition_penalty: Divides positive, multiplies negative logits of seen tokens (Keskar et al. 2019, 4.1).
        seed: Makes sampling reproducible; None draws one.
        stop: Strings that end the reply; they are not part of its text.
        max_tokens: Longest reply in tokens; None means until the context is full.
        presence_penalty: Taken from the logits of tokens that the reply has already.
        frequency_penalty: Taken from them once for each time that they stand in the reply.
        logit_bias: Token ids, and what is added to their logits.
        logprobs: How many of the likeliest tokens are told beside each, with log probabilities; None tells nothing.
        json_schema: The reply is JSON that this schema admits; "" leaves it free.

    Raises:
        ValueError: A value is out of bounds; the message names the bound.
    """

    temperature: float = 0.7
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repetition_penalty: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    max_tokens: int | None = None
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: tuple[tuple[int, float], ...] = ()
    logprobs: int | None = None
    json_schema: str = ""

    def __post_init__(self) -> None:
        _check("temperature", self.temperature, 0.0, 5.0)
        _check("top_k", self.top_k, 0, 1_000_000)
        _check("top_p", self.top_p, 0.0, 1.0)
        _check("min_p", self.min_p, 0.0, 1.0)
        _check("repetition_penalty", self.repetition_penalty, 0.1, 5.0)
        if self.seed is not None:
            _check("seed", self.seed, 0, MAX_SEED)
        if self.max_tokens is not None:
            _check("max_tokens", self.max_tokens, 1, 10_000_000)
        if any(not text for text in self.stop):
            raise ValueError("A stop string must not be empty.")
        _check("presence_penalty", self.presence_penalty, -2.0, 2.0)
        _check("frequency_penalty", self.frequency_penalty, -2.0, 2.0)
        for _, bias in self.logit_bias:
            _check("logit_bias", bias, -100.0, 100.0)
        if self.logprobs is not None:
            _check("logprobs", self.logprobs, 0, MAX_LOGPROBS)

    @property
    def greedy(self) -> bool:
        """Whether the likeliest token is always taken."""
        return self.temperature < _COLDEST


GREEDY: Final = SamplingParams(temperature=0.0, top_k=0, top_p=1.0, min_p=0.0)


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Choices made once, when a model is loaded.

    Attributes:
        device: One of DEVICES; "auto" takes CUDA, then MPS, then the CPU.
        dtype: How weights are held, one of DTYPES; "auto" takes what was chosen for the model, else what is best for
            the device.
        kv_dtype: How cached keys and values are held, one of KV_DTYPES; "auto" takes what the weights' format computes
            in. Where a format holds none such, its own is taken and the reason says so.
        threads: CPU threads; 0 means one per physical core.
        prefill_chunk: Tokens prefilled between two looks at the cancel flag.
        max_context: Limits the context in tokens; None takes the model's own.
        memory_utilization: Share of the device's memory that Loquat may take; None takes the device's default.
        cache_memory_bytes: Most memory for the KV caches of all conversations together; 0 takes what the plan leaves.
        save_caches: Whether conversations' caches are kept on disk too.
        cache_disk_bytes: Most disk for them.

    Raises:
        ValueError: A value is out of bounds; the message names the bound.
    """

    device: str = "auto"
    dtype: str = "auto"
    kv_dtype: str = "auto"
    threads: int = 0
    prefill_chunk: int = 128
    max_context: int | None = None
    memory_utilization: float | None = None
    cache_memory_bytes: int = 0
    save_caches: bool = True
    cache_disk_bytes: int = 8 << 30

    def __post_init__(self) -> None:
        if self.device not in DEVICES:
            raise ValueError(f"device must be one of {', '.join(DEVICES)}, not {self.device}.")
        if self.dtype not in DTYPES:
            raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, not {self.dtype}.")
        if self.kv_dtype not in KV_DTYPES:
            raise ValueError(f"kv_dtype must be one of {', '.join(KV_DTYPES)}, not {self.kv_dtype}.")
        _check("threads", self.threads, 0, 1024)
        _check("prefill_chunk", self.prefill_chunk, 1, 65_536)
        if self.max_context is not None:
            _check("max_context", self.max_context, 16, 100_000_000)
        if self.memory_utilization is not None:
            _check("memory_utilization", self.memory_utilization, 0.01, 1.0)
        _check("cache_memory_bytes", self.cache_memory_bytes, 0, 1 << 50)
        _check("cache_disk_bytes", self.cache_disk_bytes, 0, 1 << 50)
