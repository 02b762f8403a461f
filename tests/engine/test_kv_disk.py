"""Saved caches in real files: what is written comes back, within the limit, and no refusal of the system hurts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from engine.kv_cache import Snapshot
from engine.kv_disk import KVDisk
from engine.kv_file import write_file
from tests.engine.kv_support import FINGERPRINT, NO_LIMIT, UNFIT, files, never, read_back, same, snapshot


def test_what_was_saved_comes_back_after_a_restart(disks):
    wanted = snapshot()
    assert disks().write("c", wanted, never)
    again = disks()
    assert same(read_back(again), wanted)
    assert [saved.marks for saved in again.saved] == [()]


@pytest.mark.parametrize("length", [1, 7, 20])
def test_a_beginning_is_read_without_the_rest(disks, length):
    wanted = snapshot()
    disk = disks()
    disk.write("c", wanted, never)
    found = disk.read(disk.saved[0], length)
    beginning = {name: tensor[:, :length] for name, tensor in wanted.tensors.items()}
    assert same(found, Snapshot(wanted.ids[:length], beginning))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.int64])
def test_every_format_comes_back_bit_for_bit(disks, dtype):
    wanted = Snapshot((5, 6, 7), {"a": torch.arange(15).reshape(1, 3, 5).to(dtype), "b": torch.rand(1, 3, 1)})
    disks().write("c", wanted, never)
    assert same(read_back(disks()), wanted)


def test_views_of_a_larger_cache_are_saved_as_what_they_show(disks):
    buffer = torch.randn(2, 64, 8)
    wanted = Snapshot((1, 2, 3), {"0.keys": buffer[:, :3]})
    disks().write("c", wanted, never)
    assert same(read_back(disks()), wanted)


def test_states_at_marks_are_known_from_the_names_alone(disks):
    tensors = {"length": torch.tensor([9]), "mark.4.0.conv.0": torch.rand(3), "mark.7.0.conv.0": torch.rand(3)}
    disk = disks()
    disk.write("c", Snapshot(tuple(range(9)), tensors), never)
    assert disk.saved[0].marks == (4, 7)
    assert disks().saved[0].marks == (4, 7)


def test_saving_again_replaces_the_file(disks, root):
    disk = disks()
    disk.write("c", snapshot(seed=1), never)
    disk.write("c", snapshot(tokens=30, seed=2), never)
    assert len(files(root)) == 1
    assert same(read_back(disk), snapshot(tokens=30, seed=2))
    assert same(read_back(disks()), snapshot(tokens=30, seed=2))


def test_it_knows_what_is_on_disk(disks):
    disk = disks()
    ids = list(snapshot().ids)
    disk.write("c", snapshot(), never)
    assert disk.holds("c", ids, exactly=True)
    assert disk.holds("c", ids[:9], exactly=False)
    assert not disk.holds("c", ids[:9], exactly=True)
    assert not disk.holds("c", [*ids, 1], exactly=False)
    assert not disk.holds("c", [*ids[:-1], ids[-1] + 1], exactly=False)
    assert not disk.holds("d", ids, exactly=False)


def test_other_models_do_not_see_a_file(disks, root):
    disks().write("c", snapshot(), never)
    other = disks("0" * 64)
    assert other.saved == ()
    other.write("c", snapshot(seed=3), never)
    assert len(files(root)) == 2
    assert same(read_back(disks()), snapshot())


@pytest.mark.expects_log(UNFIT)
def test_a_file_moved_over_from_another_model_is_not_used(disks, root, caplog):
    disks("0" * 64).write("c", snapshot(), never)
    (path,) = root.glob("*/*.safetensors")
    here = root / FINGERPRINT[:24]
    here.mkdir()
    shutil.copy(path, here / path.name)
    assert disks().saved == ()
    assert files(root) == [path.name]
    assert len(caplog.records) == 1


@pytest.mark.expects_log(UNFIT)
def test_a_file_under_another_conversations_name_is_not_used(disks, root):
    disk = disks()
    disk.write("c", snapshot(), never)
    disk.write("d", snapshot(seed=1), never)
    first, second = (saved.path for saved in disk.saved)
    shutil.copy(first, second)
    assert [saved.conversation for saved in disks().saved] == ["c"]


def test_files_that_are_not_ours_are_left_alone(disks, root):
    disks().write("c", snapshot(), never)
    folder = root / FINGERPRINT[:24]
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "notes.txt").write_text("mine")
    (folder / ("a" * 32 + ".safetensors")).mkdir()
    disk = disks(limit=0)
    assert disk.saved == ()
    assert files(root) == ["a" * 32 + ".safetensors", "model.safetensors", "notes.txt"]


def test_what_a_crash_left_half_written_is_removed_at_the_start(disks, root):
    disks().write("c", snapshot(), never)
    (path,) = root.glob("*/*.safetensors")
    path.with_suffix(".4711.partial").write_bytes(b"half")
    assert same(read_back(disks()), snapshot())
    assert files(root) == [path.name]


class StopAt:
    """Says stop at the nth look."""

    def __init__(self, n: int) -> None:
        self.looks = 0
        self._n = n

    def __call__(self) -> bool:
        self.looks += 1
        return self.looks >= self._n


def test_an_abandoned_write_changes_nothing_whenever_it_is_abandoned(disks, root):
    disk = disks()
    disk.write("c", snapshot(seed=1), never)
    before = files(root)
    looks = StopAt(1 << 30)
    write_file(root / "count", "c", FINGERPRINT, snapshot(40), looks)
    assert looks.looks >= 5
    last = looks.looks + 1  # before the file is put in place
    for n in range(1, last + 1):
        assert not disk.write("c", snapshot(40), StopAt(n))
        assert files(root) == before
        assert same(disk.read(disk.saved[0], None), snapshot(seed=1))
    assert disk.write("c", snapshot(40), StopAt(last + 1))


full_disk = pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")


@full_disk
@pytest.mark.expects_log("was not saved: .*No space left on device")
def test_a_full_disk_leaves_what_was_there(disks, root, caplog):
    disk = disks()
    disk.write("c", snapshot(seed=1), never)
    before = files(root)
    (path,) = root.glob("*/*.safetensors")
    path.with_suffix(f".{os.getpid()}.partial").symlink_to("/dev/full")
    assert not disk.write("c", snapshot(2000), never)
    assert len(caplog.records) == 1
    assert files(root) == before
    assert same(read_back(disk), snapshot(seed=1))
    assert disk.write("c", snapshot(seed=2), never)  # there is room again
    assert same(read_back(disk), snapshot(seed=2))


@pytest.mark.expects_log("was not saved")
def test_a_folder_that_goes_away_while_running_is_no_fault(disks, root, caplog):
    disk = disks()
    shutil.rmtree(root)
    assert not disk.write("c", snapshot(), never)
    assert disk.saved == ()
    assert len(caplog.records) == 1


def unwritable(tmp_path: Path) -> Path:
    """A folder that the system refuses to write to; permissions alone do not stop the superuser."""
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    return Path("/sys/kernel") if os.access(folder, os.W_OK) else folder


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no read-only mode there")
@pytest.mark.expects_log("Caches cannot be saved in .*; they are kept in memory only")
def test_a_read_only_folder_is_said_once_and_nothing_is_saved(tmp_path, caplog):
    disk = KVDisk(unwritable(tmp_path) / "kv", FINGERPRINT, NO_LIMIT)
    assert disk.problem
    assert not disk.write("c", snapshot(), never)
    disk.forget("c")
    disk.close()
    assert disk.saved == ()
    assert len(caplog.records) == 1


@pytest.mark.expects_log("Caches cannot be saved in")
def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "kv").write_text("in the way")
    disk = KVDisk(tmp_path / "kv", FINGERPRINT, NO_LIMIT)
    assert not disk.write("c", snapshot(), never)
    assert (tmp_path / "kv").read_text() == "in the way"


HOLDER = """
import sys
from pathlib import Path
from engine.kv_disk import KVDisk
disk = KVDisk(Path(sys.argv[1]), sys.argv[2], 1 << 40)
print(repr(disk.problem), flush=True)
sys.stdin.read()
"""


@pytest.mark.expects_log("Another Loquat uses the folder of saved caches")
def test_a_second_program_keeps_away_until_the_first_is_gone(disks, root, caplog):
    disks().write("c", snapshot(), never)
    (path,) = root.glob("*/*.safetensors")
    disks().close()
    command = [sys.executable, "-c", HOLDER, str(root), FINGERPRINT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout.readline().strip() == "''"
        partial = path.with_suffix(f".{first.pid}.partial")
        partial.write_bytes(b"being written")
        second = disks()
        assert second.problem.endswith("in memory only.")
        assert second.saved == ()
        assert not second.write("c", snapshot(seed=9), never)
        assert partial.exists()
        assert len(caplog.records) == 1
        first.kill()
    third = disks()
    assert not third.problem
    assert same(read_back(third), snapshot())


def age(disk: KVDisk, conversation: str, seconds: int) -> None:
    path = next(saved.path for saved in disk.saved if saved.conversation == conversation)
    os.utime(path, (1_000_000 + seconds, 1_000_000 + seconds))


def names(disk: KVDisk) -> set[str]:
    return {saved.conversation for saved in disk.saved}


def test_the_limit_holds_and_the_longest_unused_goes_first(disks, root):
    disk = disks()
    disk.write("size", snapshot(), never)
    size = disk.saved[0].nbytes
    disk.forget("size")
    disk = disks(limit=3 * size)
    for n, conversation in enumerate("abc"):
        disk.write(conversation, snapshot(seed=n), never)
        age(disk, conversation, n)
    assert same(read_back(disk, "a"), snapshot(seed=0))  # reading counts as use
    disk.write("d", snapshot(seed=4), never)
    assert names(disk) == {"a", "c", "d"}
    assert sum(path.stat().st_size for path in root.glob("*/*.safetensors")) <= 3 * size


def test_files_of_other_models_count_and_go_too(disks, root):
    other = disks("0" * 64)
    other.write("old", snapshot(), never)
    size = other.saved[0].nbytes
    age(other, "old", 0)
    disk = disks(limit=2 * size)
    disk.write("a", snapshot(seed=1), never)
    age(disk, "a", 1)
    disk.write("b", snapshot(seed=2), never)
    assert names(disk) == {"a", "b"}
    assert len(files(root)) == 2


def test_a_lower_limit_holds_from_the_start(disks):
    disk = disks()
    for n, conversation in enumerate("abc"):
        disk.write(conversation, snapshot(seed=n), never)
        age(disk, conversation, n)
    assert names(disks(limit=disk.saved[0].nbytes + 1)) == {"c"}


def test_a_cache_larger_than_the_limit_pushes_nothing_out(disks):
    disk = disks()
    disk.write("a", snapshot(), never)
    disk = disks(limit=disk.saved[0].nbytes)
    assert not disk.write("b", snapshot(2000), never)
    assert names(disk) == {"a"}


ODD = ["", "..", "../../x", "a/b\\c:*?|<>", "🦜 你好", "nul\0byte", "con", "line\nbreak", "x" * 5000, "\ud800",
       '"crc32": "00000000"', "C", "c"]  # fmt: skip


def test_conversation_ids_may_hold_any_characters(disks, root):
    disk = disks()
    for n, conversation in enumerate(ODD):
        assert disk.write(conversation, snapshot(seed=n), never)
    again = disks()
    assert names(again) == set(ODD)
    for n, conversation in enumerate(ODD):
        assert same(read_back(again, conversation), snapshot(seed=n))
    assert all(path.parent == root / FINGERPRINT[:24] for path in root.rglob("*.safetensors"))


def test_a_forgotten_conversation_leaves_no_file(disks, root):
    disk = disks()
    disk.write("c", snapshot(), never)
    disk.forget("c")
    disk.forget("never there")
    assert files(root) == []
    assert not disk.holds("c", snapshot().ids, exactly=False)
    assert disks().saved == ()


def test_a_file_replaced_between_index_and_reading_is_not_mistaken_for_the_old_one(disks, root):
    disk = disks()
    disk.write("c", snapshot(seed=1), never)
    stale = disk.saved[0]
    disk.write("c", snapshot(seed=2), never)
    assert disk.read(stale, None) is None  # not the keys of one with the ids of the other
    assert same(read_back(disk), snapshot(seed=2))  # and the new one is still there


def test_after_closing_nothing_is_written(disks, root):
    disk = disks()
    disk.close()
    assert not disk.write("c", snapshot(), never)
    assert files(root) == []
