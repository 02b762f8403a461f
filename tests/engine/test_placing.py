from __future__ import annotations

from pathlib import Path

import accelerate
import pytest
import torch

from engine.config import EngineConfig
from engine.device import DeviceChoice
from engine.errors import UnsupportedModel
from engine.formats import choose_format
from engine.hf_runner import load_hf_runner
from engine.memory import Footprint, Machine
from engine.placing import Split, rooms_for, split, spread_words
from tests.tiny_models import make_tiny_model

GIB = 1 << 30
# accelerate wonders at GPUs that are only spoken of.
NO_GPUS_HERE = pytest.mark.expects_log(*["Device . is not available"] * (not torch.cuda.is_available()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model("llama", tmp_path_factory.mktemp("placing") / "tiny", num_hidden_layers=6)


def bytes_of(folder: Path) -> int:
    whole = split(folder, torch.float32, {0: GIB, "cpu": GIB})
    assert whole is not None
    return whole.total


@NO_GPUS_HERE
def test_what_fits_one_gpu_is_not_cut(folder: Path) -> None:
    parts = split(folder, torch.float32, {0: GIB, "cpu": GIB})
    assert parts is not None
    assert (parts.gpus, parts.in_ram) == (1, 0)


@NO_GPUS_HERE
def test_a_model_goes_over_gpus_first_and_into_ram_last(folder: Path) -> None:
    half, most = (int(share * bytes_of(folder)) for share in (0.6, 0.8))
    two = split(folder, torch.float32, {0: most, 1: most, "cpu": GIB})
    assert two is not None
    assert (two.gpus, two.in_ram) == (2, 0)
    assert spread_words(two) == "spread over 2 GPUs, as one cannot hold it"
    one = split(folder, torch.float32, {0: half, "cpu": GIB})
    assert one is not None
    assert one.gpus == 1
    assert 0.3 * one.total < one.in_ram < 0.8 * one.total
    assert all(place in {0, "cpu"} for place in one.device_map.values())


@NO_GPUS_HERE
def test_a_model_that_fits_nowhere_is_not_placed(folder: Path) -> None:
    assert split(folder, torch.float32, {0: 1000, "cpu": 1000}) is None


def test_what_transformers_does_not_know_is_cut_in_no_way(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "of another kind"}')
    with pytest.raises(UnsupportedModel, match="architecture that is not supported"):
        split(tmp_path, torch.float32, {0: GIB, "cpu": GIB})


def test_the_cost_of_weights_in_ram_is_said() -> None:
    words = spread_words(Split({"a": 0, "b": "cpu"}, in_ram=3_600_000_000, total=9_000_000_000))
    assert words.startswith("5.03 GiB of the weights on the GPU, 3.35 GiB in RAM")
    assert words.endswith("about 0.3 s a token more")


def test_each_gpu_keeps_room_for_its_share_of_the_cache() -> None:
    footprint = Footprint("M", 9 * GIB, 0, 64, 128, "float16", 8192, 100 << 20, 0, 1 << 20)
    gpus = [Machine("cuda", 8 * GIB, 8 * GIB, 0), Machine("cuda", 8 * GIB, 4 * GIB, 0)]
    rooms = rooms_for(footprint, gpus, Machine("cpu", 32 * GIB, 20 * GIB, GIB), 4096, EngineConfig())
    cached = 4096 * 64 * 128 * 2 // 2
    assert rooms[0] == int(8 * GIB * 0.92) - cached - (101 << 20)
    assert rooms[1] == 4 * GIB - cached - (101 << 20)
    assert rooms["cpu"] == 20 * GIB - 2 * GIB - GIB


def test_weights_that_are_moved_in_for_each_pass_give_the_same_logits(folder: Path) -> None:
    """As a part in RAM computes on a GPU; here both are the same memory, and accelerate moves it all the same."""
    held, _ = choose_format("cpu", "float32")
    choice = DeviceChoice(torch.device("cpu"), held, torch.float32, 1, "")
    whole, moved = load_hf_runner(folder, choice), load_hf_runner(folder, choice)
    accelerate.cpu_offload(moved._model, execution_device=torch.device("cpu"))
    assert all(weight.is_meta for weight in moved._model.parameters())
    ids = list(range(5, 25))
    here, there = whole.new_cache(), moved.new_cache()
    torch.testing.assert_close(whole.prefill(ids, here), moved.prefill(ids, there), rtol=0, atol=0)
    again = moved.restore_cache(there.export())
    torch.testing.assert_close(whole.decode(7, here), moved.decode(7, again), rtol=0, atol=0)
