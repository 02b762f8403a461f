"""Models of many architectures come in as a folder and as a GGUF file, chat, and reply as transformers would.

The checkpoints are tiny and random; every one goes the whole way that a person's model goes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from engine.chat import ChatRequest, Message, RequestHandle
from engine.config import EngineConfig, SamplingParams
from engine.engine import Engine
from engine.events import Finished
from engine.models.registry import ModelEntry, Registry
from engine.paths import Paths
from tests.engine.models.gguf_files import ARCH, finish, write_gguf

TinyModel = Callable[..., Path]
NEW_TOKENS: Final = 16
QUESTIONS: Final = ("What is a quince?", "And where does it grow, in the north or in the south?")
LLAMA3: Final = {
    "rope_type": "llama3",
    "rope_theta": 500_000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
LONG: Final = {
    "rope_type": "longrope",
    "rope_theta": 10_000.0,
    "short_factor": [1.0, 1.5, 2.0, 2.5],
    "long_factor": [9.0] * 4,
    "partial_rotary_factor": 0.5,
}
# Which layers slide is not in a GGUF file: every second one, as in the real models.
SLIDES: Final = {"layer_types": ["sliding_attention", "full_attention"] * 2}
CASES: Final[Mapping[str, tuple[str, dict[str, Any]]]] = {
    "Llama 2": ("llama", {"tie_word_embeddings": False}),
    "Llama 3": ("llama", {"rope_parameters": LLAMA3}),
    "Qwen 2.5": ("qwen2", {}),
    "Qwen 3": ("qwen3", {}),
    "Gemma 2": ("gemma2", SLIDES),
    "Gemma 3": ("gemma3_text", {}),
    "Mistral": ("mistral", {}),
    "Phi 3": ("phi3", {}),
    "Phi 4 mini": ("phi3", {"rope_parameters": LONG, "original_max_position_embeddings": 256}),
    "Granite 3": ("granite", {}),
    "SmolLM3": ("smollm3", {"num_hidden_layers": 5, "no_rope_layer_interval": 4}),
    "OLMo 2": ("olmo2", {}),
    "StableLM": ("stablelm", {}),
    "StarCoder 2": ("starcoder2", {}),
    "Command R": ("cohere", {"logit_scale": 1.0}),
    "Pythia": ("gpt_neox", {}),
    "Mixtral": ("mixtral", {"num_local_experts": 4, "num_experts_per_tok": 2}),
    "Qwen 3 with experts": (
        "qwen3_moe",
        {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "head_dim": 16},
    ),
}
AS_GGUF: Final = [name for name, (kind, changes) in CASES.items() if kind in ARCH and "rope_parameters" not in changes]


FORMS: Final = [*((name, "folder") for name in CASES), *((name, "GGUF") for name in AS_GGUF)]
# One of each way that a model can go; all others in the slow lane.
FAST: Final = (("Llama 3", "folder"), ("Gemma 3", "GGUF"), ("Pythia", "folder"), ("Mixtral", "folder"))


@pytest.fixture(
    params=[pytest.param(form, marks=[] if form in FAST else pytest.mark.slow, id=" as ".join(form)) for form in FORMS]
)
def model(
    request: pytest.FixtureRequest, tiny_model: TinyModel, tmp_path: Path, loquat_home: Paths
) -> tuple[Path, ModelEntry]:
    """A folder as transformers writes it, and what was imported from it."""
    name, form = request.param
    kind, changes = CASES[name]
    source = tiny_model(kind, **changes)
    given = write_gguf(source, tmp_path / "tiny.gguf") if form == "GGUF" else source
    return source, finish(Registry(loquat_home.models).add(given, RequestHandle("add"), "tiny"))


def reply(engine: Engine, messages: list[Message], *, reuse: bool = True) -> Finished:
    asked = ChatRequest(
        "r", tuple(messages), SamplingParams(temperature=0.0, max_tokens=NEW_TOKENS), "chat", reuse=reuse
    )
    *_, last = engine.stream(asked, traced=False)
    assert isinstance(last, Finished)
    return last


def test_it_comes_in_chats_and_replies_as_transformers_would(model: tuple[Path, ModelEntry], tmp_path: Path) -> None:
    source, entry = model
    theirs = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(source)
    engine = Engine(EngineConfig(device="cpu", dtype="float32", threads=1, save_caches=False), tmp_path / "cache")
    engine.load(entry)
    loaded = engine._model
    assert loaded is not None
    messages: list[Message] = []
    for number, question in enumerate(QUESTIONS):
        messages.append(Message("user", question))
        prompt = loaded.prompt.encode(ChatRequest("r", tuple(messages)))
        if not number:
            chat = [{"role": "user", "content": question}]
            assert prompt == tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=False)
        made = theirs.generate(torch.tensor([prompt]), max_new_tokens=NEW_TOKENS, do_sample=False)
        said = reply(engine, messages)
        assert list(said.token_ids) == made[0, len(prompt) :].tolist()
        assert (said.stats.cached_tokens > 0) is (number > 0)
        messages.append(Message("assistant", said.text, said.token_ids))
    engine.unload()
