"""An import takes at most one and a half times the file and 600 MB of memory, measured in a process of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.models.model_folder import WEIGHTS
from engine.models.registry import Registry
from engine.models.safetensors_file import TensorEntry, write_header
from engine.paths import Paths

ROOT = Path(__file__).parents[3]
IMPORT = """
import sys
from pathlib import Path
from engine.chat import RequestHandle
from engine.models.registry import Registry

for _ in Registry(Path(sys.argv[2])).add(Path(sys.argv[1]), RequestHandle("test"), "measured"):
    pass
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells of the most memory that was held")


def peak(source: Path, models: Path) -> int:
    """Bytes held at most while a model is imported, the program and its libraries among them."""
    command = [sys.executable, "-c", IMPORT, str(source), str(models)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return int(ended.stdout.split()[-1]) * 1024


def allowed(nbytes: int) -> float:
    return 1.5 * nbytes + 600e6


@pytest.mark.model
def test_of_the_default_model_as_gguf(model_home: Paths, tmp_path: Path) -> None:
    file = Registry(model_home.models).find(None).folder / "source.gguf"
    assert peak(file, tmp_path / "models") < allowed(file.stat().st_size)


@pytest.mark.slow
@pytest.mark.model
def test_of_a_gigabyte_of_safetensors(model_home: Paths, tmp_path: Path) -> None:
    """The weights are a hole in a file: as large as any other in memory, and no space on the disk."""
    source = tmp_path / "a gigabyte"
    source.mkdir()
    sizes = {"hidden_size": 1536, "intermediate_size": 4096, "num_hidden_layers": 14, "num_attention_heads": 16}
    sizes |= {"num_key_value_heads": 4, "head_dim": 96}
    default = Registry(model_home.models).find(None).folder
    config = json.loads((default / "config.json").read_text()) | sizes | {"tie_word_embeddings": False}
    (source / "config.json").write_text(json.dumps(config))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(default / name, source)
    entries = llama_tensors(config)
    with (source / WEIGHTS).open("wb") as file:
        write_header(file, entries)
        file.truncate(file.tell() + sum(entry.nbytes for entry in entries))
    nbytes = (source / WEIGHTS).stat().st_size
    assert nbytes > 0.95e9
    assert peak(source, tmp_path / "models") < allowed(nbytes)


def llama_tensors(config: dict[str, int]) -> list[TensorEntry]:
    hidden, inner, vocabulary = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
    kv = config["num_key_value_heads"] * config["head_dim"]
    ends = {"model.embed_tokens": (vocabulary, hidden), "lm_head": (vocabulary, hidden), "model.norm": (hidden,)}
    attention = dict.fromkeys(("q_proj", "o_proj"), (hidden, hidden)) | dict.fromkeys(
        ("k_proj", "v_proj"), (kv, hidden)
    )
    mlp = {"gate_proj": (inner, hidden), "up_proj": (inner, hidden), "down_proj": (hidden, inner)}
    layer: dict[str, tuple[int, ...]] = dict.fromkeys(("input_layernorm", "post_attention_layernorm"), (hidden,))
    layer |= {f"self_attn.{name}": shape for name, shape in attention.items()}
    layer |= {f"mlp.{name}": shape for name, shape in mlp.items()}
    layers = {
        f"model.layers.{index}.{name}": shape
        for index in range(config["num_hidden_layers"])
        for name, shape in layer.items()
    }
    return [TensorEntry(f"{name}.weight", "BF16", shape) for name, shape in (ends | layers).items()]
