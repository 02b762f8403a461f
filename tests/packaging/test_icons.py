from __future__ import annotations

import struct

from building import icons
from PySide6.QtGui import QImage

PNG = b"\x89PNG"


def test_the_drawing_becomes_a_picture_of_the_size_asked_for() -> None:
    image = QImage.fromData(icons.draw(48))
    assert (image.width(), image.height()) == (48, 48)
    assert image.pixelColor(24, 30).alpha() == 255
    assert image.pixelColor(0, 47).alpha() == 0


def test_an_icon_file_of_windows_points_at_each_picture() -> None:
    data = icons.ico({16: PNG + b"16", 256: PNG + b"large"})
    assert struct.unpack("<HHH", data[:6]) == (0, 1, 2)
    for at, (size, picture) in enumerate([(16, PNG + b"16"), (0, PNG + b"large")]):
        width, height, *_, nbytes, offset = struct.unpack("<BBBBHHII", data[6 + 16 * at : 22 + 16 * at])
        assert (width, height) == (size, size)
        assert data[offset : offset + nbytes] == picture


def test_an_icon_file_of_macos_holds_its_length_and_its_pictures() -> None:
    data = icons.icns({"ic07": PNG + b"a", "ic08": PNG + b"bc"})
    assert struct.unpack(">4sI", data[:8]) == (b"icns", len(data))
    assert data[8:12] == b"ic07"
    assert data[16:21] == PNG + b"a"
