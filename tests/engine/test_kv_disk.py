"""Saved caches in real files: what is written comes back, and whatever is wrong with a file is noticed."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from engine.kv_cache import Snapshot
from engine.kv_disk import KVDisk
from engine.kv_file import write_file

FINGERPRINT = "f" * 64
NO_LIMIT = 1 << 40
DAMAGED = "is damaged and is not used"
UNFIT = "does not fit and is not used"


def never() -> bool:
    return False


def snapshot(tokens: int = 20, seed: int = 0) -> Snapshot:
    """Keys and values of two layers, as a runner exports them."""
    random = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, 50_000, (tokens,), generator=random).tolist()
    tensors = {
        f"{n}.{side}": torch.randn(2, tokens, 8, generator=random) for n in range(2) for side in ("keys", "values")
    }
    return Snapshot(tuple(ids), tensors)


@pytest.fixture
def root(tmp_path) -> Path:
    return tmp_path / "kv"


@pytest.fixture
def disks(root):
    """Makes disks on one folder, one open at a time, and closes the last."""
    made: list[KVDisk] = []

    def make(fingerprint: str = FINGERPRINT, limit: int = NO_LIMIT) -> KVDisk:
        for disk in made:
            disk.close()
        made.append(KVDisk(root, fingerprint, limit))
        return made[-1]

    yield make
    for disk in made:
        disk.close()


def same(found: Snapshot | None, wanted: Snapshot) -> bool:
    return (
        found is not None
        and tuple(found.ids) == tuple(wanted.ids)
        and found.tensors.keys() == wanted.tensors.keys()
        and all(torch.equal(found.tensors[name], wanted.tensors[name]) for name in wanted.tensors)
    )


def files(root: Path) -> list[str]:
    return sorted(path.name for path in root.glob("*/*"))


def read_back(disk: KVDisk, conversation: str = "c") -> Snapshot | None:
    """What a restart would find."""
    saved = {saved.conversation: saved for saved in disk.saved}.get(conversation)
    return disk.read(saved, None) if saved else None


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


def damaged_copies(whole: bytes) -> dict[str, bytes]:
    """The file cut at many lengths, and with one byte changed at many places: header, padding, ids and tensors."""
    size = 8 + struct.unpack("<Q", whole[:8])[0]
    places = sorted({0, 1, 7, 8, 9, size - 1, size, size + 1, len(whole) - 1, *range(0, len(whole), 41)})
    cut = {f"cut at {n}": whole[:n] for n in places}
    flipped = {f"byte {n}": whole[:n] + bytes([whole[n] ^ 0x10]) + whole[n + 1 :] for n in places}
    return {**cut, **flipped, "grown": whole + b"\0" * 64, "other": os.urandom(len(whole)), "empty": b""}


@pytest.mark.expects_log(UNFIT, DAMAGED)
def test_damage_before_the_start_is_noticed_wherever_it_is(disks, root, caplog):
    disks().write("c", snapshot(4), never)
    (path,) = root.glob("*/*.safetensors")
    for what, content in damaged_copies(path.read_bytes()).items():
        caplog.clear()
        path.write_bytes(content)
        assert read_back(disks()) is None, what
        assert files(root) == [], what
        assert len(caplog.records) == 1, (what, caplog.messages)


@pytest.mark.expects_log(DAMAGED)
def test_damage_after_the_start_is_noticed_wherever_it_is(disks, root, caplog):
    disk = disks()
    disk.write("c", snapshot(4), never)
    (path,) = root.glob("*/*.safetensors")
    for what, content in damaged_copies(path.read_bytes()).items():
        caplog.clear()
        disk.write("c", snapshot(4), never)
        path.write_bytes(content)
        assert disk.read(disk.saved[0], None) is None, what
        assert (disk.saved, files(root)) == ((), []), what
        assert len(caplog.records) == 1, (what, caplog.messages)


def rewritten(whole: bytes, change) -> bytes:
    """The file with another header in front of the same data; the checksum is left as it was."""
    size = struct.unpack("<Q", whole[:8])[0]
    header = json.loads(whole[8 : 8 + size])
    change(header)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + whole[8 + size :]


def swap_layers(header) -> None:
    header["0.keys"], header["1.keys"] = header["1.keys"], header["0.keys"]


def rename_conversation(header) -> None:
    header["__metadata__"]["conversation"] = '"another"'


def narrower(header) -> None:
    header["0.keys"]["shape"] = [4, 4, 4]


def drop_checksum(header) -> None:
    del header["__metadata__"]["crc32"]


def drop_ids(header) -> None:
    header["other"] = header.pop("ids")


def drop_all_metadata(header) -> None:
    del header["__metadata__"]


@pytest.mark.expects_log(f"{UNFIT}|{DAMAGED}")
@pytest.mark.parametrize(
    "lie", [swap_layers, rename_conversation, narrower, drop_checksum, drop_ids, drop_all_metadata]
)
def test_a_header_that_lies_is_not_believed(disks, root, caplog, lie):
    disks().write("c", snapshot(4), never)
    (path,) = root.glob("*/*.safetensors")
    path.write_bytes(rewritten(path.read_bytes(), lie))
    disk = disks()
    assert read_back(disk) is None
    assert read_back(disk, "another") is None
    assert files(root) == []
    assert len(caplog.records) == 1


@pytest.mark.expects_log(UNFIT)
def test_a_header_of_absurd_length_is_not_read(disks, root, caplog):
    disks().write("c", snapshot(4), never)
    (path,) = root.glob("*/*.safetensors")
    path.write_bytes(struct.pack("<Q", 1 << 62) + path.read_bytes()[8:])
    assert disks().saved == ()
    assert len(caplog.records) == 1


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
