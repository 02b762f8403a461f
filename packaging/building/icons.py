"""The program's icon from its one drawing: PNG in every size, and the files that Windows and macOS want.

`PYTHON -m building.icons FOLDER` in packaging/, with the Python of a build environment, which has Qt.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from building.project import BUILD, PACKAGING, ROOT, run

FOLDER: Final = BUILD / "icons"
SIZES: Final = (16, 22, 24, 32, 48, 64, 128, 256, 512, 1024)
_DRAWING: Final = ROOT / "assets" / "icons" / "loquat.svg"
_WINDOWS: Final = (16, 24, 32, 48, 64, 128, 256)
# Apple's names of the pictures in an .icns file.
_MACOS: Final = {"icp4": 16, "icp5": 32, "ic11": 32, "ic12": 64, "ic07": 128, "ic08": 256, "ic09": 512, "ic10": 1024}


def provide(python: Path) -> Path:
    """The folder with the icons, drawn anew: `SIZE.png`, loquat.ico and loquat.icns.

    Args:
        python: Of an environment with PySide6.
    """
    run(
        [str(python), "-m", "building.icons", str(FOLDER)],
        PYTHONPATH=str(PACKAGING),
        QT_QPA_PLATFORM="offscreen",
    )
    return FOLDER


def ico(pictures: Mapping[int, bytes]) -> bytes:
    """An icon file for Windows.

    Args:
        pictures: PNG by size, up to 256 pixels.
    """
    offset = 6 + 16 * len(pictures)
    entries = b""
    for size, data in pictures.items():
        entries += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(data), offset)
        offset += len(data)
    return struct.pack("<HHH", 0, 1, len(pictures)) + entries + b"".join(pictures.values())


def icns(pictures: Mapping[str, bytes]) -> bytes:
    """An icon file for macOS.

    Args:
        pictures: PNG by Apple's four letters for its size.
    """
    body = b"".join(struct.pack(">4sI", kind.encode(), 8 + len(data)) + data for kind, data in pictures.items())
    return struct.pack(">4sI", b"icns", 8 + len(body)) + body


def draw(size: int) -> bytes:
    """The icon as PNG, `size` pixels wide and high."""
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt  # noqa: PLC0415 - in the build environment only
    from PySide6.QtGui import QImage, QImageWriter, QPainter  # noqa: PLC0415
    from PySide6.QtSvg import QSvgRenderer  # noqa: PLC0415

    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(_DRAWING)).render(painter)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"PNG")).write(image)
    return bytes(data.data())


def main(arguments: list[str]) -> int:
    """Draw all icons into a folder; returns the exit code."""
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {size: draw(size) for size in SIZES}
    for size, data in pictures.items():
        (folder / f"{size}.png").write_bytes(data)
    (folder / "loquat.ico").write_bytes(ico({size: pictures[size] for size in _WINDOWS}))
    (folder / "loquat.icns").write_bytes(icns({kind: pictures[size] for kind, size in _MACOS.items()}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
