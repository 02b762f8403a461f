"""Which files go with a question, and what is said of the others."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QImage

from app.attachments import (
    MAX_BYTES,
    AttachmentReader,
    ModelFolder,
    Refused,
    decode,
    fits_field,
    kind_of_drop,
    pasted,
    read,
    size_of,
)
from app.records import Attachment


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("naïve 推理".encode(), "naïve 推理"),
        ("naïve".encode("utf-8-sig"), "naïve"),
        ("推理 🙂".encode("utf-16"), "推理 🙂"),
        ("\ufeff推理".encode("utf-16-be"), "推理"),
        ("推理".encode("utf-32"), "推理"),
        ("Übergröße, déjà vu".encode("latin-1"), "Übergröße, déjà vu"),
        ("“quoted” – 5 €".encode("cp1252"), "“quoted” – 5 €"),
        ("为什么推理慢？".encode("gb2312"), "为什么推理慢？"),
        (b"one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        (b"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
        (b"\x81 is no cp1252", "\x81 is no cp1252"),
    ],
)
def test_text_is_read_in_the_encodings_that_there_are(data: bytes, text: str) -> None:
    assert decode(data) == text


@pytest.mark.parametrize(
    "data", [b"\x7fELF\0\0\0", bytes(range(1, 256)) * 4, b"\xff\xfeodd", b"some \x01\x02\x03\x04 text", b"abc\0"]
)
def test_binary_data_is_no_text(data: bytes) -> None:
    assert decode(data) is None


def refusal(outcome: object) -> str:
    assert isinstance(outcome, Refused)
    return outcome.sentence


def test_a_text_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes("größe\r\n".encode())
    assert read(path) == Attachment("notes.txt", "größe\n")


def test_what_cannot_be_attached_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\0\1\2")
    (tmp_path / "a.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")  # by content, not by name
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7\n\xe2\xe3")
    (tmp_path / "empty").write_bytes(b" \n")
    (tmp_path / "folder").mkdir()
    assert refusal(read(tmp_path / "a.bin")) == "a.bin is not a text file."
    assert refusal(read(tmp_path / "a.txt")) == "This model reads text only."
    assert refusal(read(tmp_path / "a.pdf")).startswith("a.pdf is a PDF.")
    assert refusal(read(tmp_path / "empty")) == "empty is empty."
    assert refusal(read(tmp_path / "folder")) == "folder is a folder. Please choose the files in it."
    assert refusal(read(tmp_path / "gone")) == "gone cannot be read: No such file or directory."


def test_the_limit_is_five_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * MAX_BYTES)
    assert isinstance(read(path), Attachment)
    path.write_bytes(b"x" * (MAX_BYTES + 1))
    assert refusal(read(path)) == "log is too large: at most 5 MB can be attached."
    assert refusal(pasted("é" * (MAX_BYTES // 2 + 1))).startswith("Pasted text is too large")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in the file system")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refusal(read(tmp_path / "pipe")) == "pipe is not a file."


def test_text_that_looks_like_a_picture_is_text(tmp_path: Path) -> None:
    path = tmp_path / "bm.txt"
    path.write_text("BMW is a company.")
    assert isinstance(read(path), Attachment)


def test_a_folder_with_a_model_is_one(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert read(tmp_path) == ModelFolder(tmp_path)


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("a line\n" * 28_000, True),
        ("a line\n" * 29_000, False),
        ("word " * 20_000, True),
        ("word " * 20_001, False),
        ("x" * 10_000, True),
        ("x" * 10_001, False),
    ],
)
def test_what_would_make_the_field_slow_does_not_fit_it(text: str, fits: bool) -> None:
    assert fits_field(text) is fits


def test_half_a_character_has_a_size() -> None:
    assert size_of("\ud83d") == 3


def mime(*names: str, text: str = "", image: bool = False) -> QMimeData:
    data = QMimeData()
    if names:
        data.setUrls([QUrl(name) if "://" in name else QUrl.fromLocalFile(name) for name in names])
    if text:
        data.setText(text)
    if image:
        data.setImageData(QImage(2, 2, QImage.Format.Format_RGB32))
    return data


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (mime("/a/model.GGUF"), "model"),
        (mime("/a/one.gguf", "/a/two.gguf"), "files"),
        (mime("/a/notes.txt", text="/a/notes.txt"), "files"),
        (mime("https://example.org/x", text="https://example.org/x"), "text"),
        (mime(text="words"), "text"),
        (mime(text="words", image=True), "text"),  # a cell of a table is offered as both
        (mime(image=True), "image"),
        (mime(), None),
    ],
)
def test_a_drop_is_told_by_its_names(data: QMimeData, kind: str | None) -> None:
    assert kind_of_drop(data) == kind


def test_files_are_read_beside_the_windows_thread(qtbot: Any, tmp_path: Path) -> None:
    threads: list[threading.Thread] = []

    def slow(path: Path) -> Refused:
        threads.append(threading.current_thread())
        return Refused(path.name)

    reader = AttachmentReader(read_file=slow)
    told: list[tuple[int, object, threading.Thread]] = []
    reader.done.connect(lambda number, outcome: told.append((number, outcome, threading.current_thread())))
    numbers = [reader.start(tmp_path / name) for name in ("a", "b")]
    qtbot.waitUntil(lambda: len(told) == 2)
    assert sorted((number, outcome.sentence) for number, outcome, _ in told) == list(zip(numbers, "ab", strict=True))
    assert {thread for *_, thread in told} == {threading.main_thread()}
    assert threading.main_thread() not in threads


def test_a_cancelled_file_is_not_told_and_a_reader_that_is_gone_harms_nobody(qtbot: Any, tmp_path: Path) -> None:
    gate = threading.Event()

    def slow(path: Path) -> Refused:
        gate.wait(5)
        return Refused(path.name)

    reader = AttachmentReader(read_file=slow)
    told: list[object] = []
    reader.done.connect(lambda _number, outcome: told.append(outcome.sentence))
    reader.cancel(reader.start(tmp_path / "unwanted"))
    gone = AttachmentReader(read_file=slow)
    gone.start(tmp_path / "gone")
    del gone
    reader.start(tmp_path / "wanted")
    gate.set()
    qtbot.waitUntil(lambda: bool(told))
    qtbot.wait(50)
    assert told == ["wanted"]


def test_a_file_that_has_just_been_read_can_be_cancelled(qtbot: Any, tmp_path: Path) -> None:
    before = set(threading.enumerate())
    reader = AttachmentReader(read_file=lambda path: Refused(path.name))
    told: list[object] = []
    reader.done.connect(lambda _number, outcome: told.append(outcome.sentence))
    number = reader.start(tmp_path / "unwanted")
    for thread in set(threading.enumerate()) - before:
        thread.join()
    reader.cancel(number)
    reader.start(tmp_path / "wanted")
    qtbot.waitUntil(lambda: bool(told))
    assert told == ["wanted"]


def test_a_pickle_is_refused_for_the_programs_it_can_hold(tmp_path: Path) -> None:
    for name, data in (("a.pt", b"PK\x03\x04\0"), ("a.bin", b"\x80\x02\0"), ("big.pt", b"\0" * (MAX_BYTES + 1))):
        (tmp_path / name).write_bytes(data)
        outcome = read(tmp_path / name)
        assert isinstance(outcome, Refused)
        assert outcome.sentence.startswith(f"The file {name} is a Python pickle, which can run any program")
    (tmp_path / "other.bin").write_bytes(b"\0\1")
    assert read(tmp_path / "other.bin") == Refused("other.bin is not a text file.")
