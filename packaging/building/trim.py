"""What is left out of the frozen program, and why: files by their place in it, Python modules by their name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from posixpath import basename, dirname, join, normpath
from typing import Final

from building import elf

Entry = tuple[str, str, str]
"""A file as PyInstaller lists it: its place in the program, its source or a link's target, its kind."""

_LINK: Final = "SYMLINK"


@dataclass(frozen=True, slots=True)
class Cut:
    """Files that the program does not need.

    Attributes:
        why: In a few words.
        patterns: Of their paths below the program's library folder; `*` also matches slashes.
        but: Patterns of what stays all the same.
    """

    why: str
    patterns: tuple[str, ...]
    but: tuple[str, ...] = ()

    def takes(self, path: str) -> bool:
        """Whether this cut leaves out the file at `path`, which has forward slashes."""
        return _matches(path, self.patterns) and not _matches(path, self.but)


CUTS: Final = (
    Cut(
        "headers and tools for building against torch; torch itself insists on the manager of shared memory",
        ("torch/include/*", "torch/bin/*", "torch/share/*"),
        ("torch/bin/torch_shm_manager*",),
    ),
    Cut("torch's own tests", ("torch/test/*", "torch/lib/libtorchbind_test*", "torch/lib/libjitbackend_test*")),
    Cut("torch's own tests", ("torch/lib/libbackend_with_compiler*", "torch/lib/libaoti_custom_ops*")),
    Cut("Numba's threads by TBB, which is not there", ("numba/np/ufunc/tbbpool*",)),
    Cut("static libraries", ("*.a", "*.lib")),
    Cut(
        "bitsandbytes for graphics cards; a build for CUDA keeps them",
        ("bitsandbytes/libbitsandbytes_*", "bitsandbytes/bitsandbytes_*.dll"),
        ("bitsandbytes/libbitsandbytes_cpu.*",),
    ),
    Cut("tests of libraries", ("*/tests/*", "*/test/*", "*/testing/data/*"), ("torch/*", "numba/tests/support.py")),
    Cut(
        "Qt's plugins for screens without a desktop",
        (
            "PySide6/Qt/plugins/egldeviceintegrations/*",
            "PySide6/Qt/plugins/generic/*",
            "PySide6/Qt/plugins/platforms/libqeglfs*",
            "PySide6/Qt/plugins/platforms/libqlinuxfb*",
            "PySide6/Qt/plugins/platforms/libqminimal*",
            "PySide6/Qt/plugins/platforms/libqvkkhrdisplay*",
            "PySide6/Qt/plugins/platforms/libqvnc*",
            "PySide6/Qt/plugins/wayland-graphics-integration-server/*",
            "*/libQt6EglFS*",
            "*/libQt6WaylandCompositor*",
            "*/libQt6WaylandEglCompositorHwIntegration*",
        ),
    ),
    Cut("GTK's look, which needs GTK", ("PySide6/Qt/plugins/platformthemes/libqgtk3*",)),
    Cut(
        "Qt Quick, QML and the on-screen keyboard, which the window does not use",
        (
            "PySide6/Qt/qml/*",
            "PySide6/Qt/plugins/qmltooling/*",
            "PySide6/Qt/plugins/platforminputcontexts/*virtualkeyboard*",
            "*/libQt6Quick*",
            "*/libQt6Qml*",
            "*/libQt6VirtualKeyboard*",
            "*/Qt6Quick*.dll",
            "*/Qt6Qml*.dll",
            "*/Qt6VirtualKeyboard*.dll",
            "PySide6/opengl32sw.dll",
        ),
    ),
    Cut("Qt's databases: conversations are kept through Python's sqlite3", ("PySide6/Qt/plugins/sqldrivers/*",)),
    Cut("Qt's PDF and Lottie pictures", ("*/imageformats/*qpdf*", "*/vectorimageformats/*", "*/libQt6Pdf*")),
    Cut(
        "Qt's own sentences in languages that the window does not speak",
        ("*/Qt/translations/*",),
        ("*_zh_CN.qm", "*_en.qm"),
    ),
    Cut(
        "lists of files that pip wrote, which name folders of the build",
        ("*.dist-info/RECORD", "*.dist-info/INSTALLER"),
    ),
    Cut(
        "lists of files that pip wrote, which name folders of the build",
        ("*.dist-info/REQUESTED", "*.dist-info/direct_url.json"),
    ),
    Cut(
        "what must be as new as the graphics drivers and the font cache of the system that it runs on",
        ("libstdc++.so*", "libgcc_s.so*", "libfontconfig.so*", "libfreetype.so*"),
    ),
)

MODULES: Final = (
    "tkinter",
    "pip",
    "setuptools",
    "wheel",
    "pytest",
    "IPython",
    "matplotlib",
    "scipy",
    "pandas",
    "PIL",
    "tensorflow",
    "tensorboard",
    "torch.utils.tensorboard",
    "torch.utils.benchmark",
    "numpy.tests",
    "sympy.testing.tests",
    "PySide6.QtQml",
    "PySide6.QtQuick",
    "readline",
)
"""Modules that some library could use and Loquat never does; with readline a library under the GPL would come along."""

# `from ..llama.modeling_llama import ...` or `from transformers.models.llama...` in one family's files.
_OF_ANOTHER: Final = re.compile(r"^\s*from (?:\.\.|transformers\.models\.)([a-z0-9_]+)", re.MULTILINE)
_ALWAYS: Final = ("auto", "encoder_decoder", "deprecated")


def is_wanted(path: str) -> bool:
    """Whether the file at this place below the program's library folder belongs into the program."""
    plain = path.replace("\\", "/")
    return not any(cut.takes(plain) for cut in CUTS)


def kept(entries: Iterable[Entry], *, linux: bool) -> set[Entry]:
    """What stays of a program's files.

    Args:
        entries: As PyInstaller lists them.
        linux: Whether libraries can be read for what they need.
    """
    wanted = [entry for entry in entries if is_wanted(entry[0])]
    return set(needed(wanted) if linux else wanted)


def needed(entries: Iterable[Entry]) -> list[Entry]:
    """Of a Linux program's files those that stay when libraries are dropped that nothing needs any more.

    PyInstaller collects what a plugin needs before the plugin is left out. A library may go that lies where PyInstaller
    puts those of the system, or among Qt's; the modules, plugins and programs elsewhere are what needs them.

    Args:
        entries: Files and links as PyInstaller lists them.
    """
    entries = list(entries)
    files = {place: Path(source).resolve() for place, source, kind in entries if kind != _LINK}
    links = {place: normpath(join(dirname(place), target)) for place, target, kind in entries if kind == _LINK}
    wanted = elf.needs(path for path in files.values() if elf.is_elf(path))
    names = {basename(place): wanted[path].libraries for place, path in files.items() if path in wanted}
    aliases = {basename(place): (basename(target),) for place, target in links.items() if target in files}
    roots = [basename(place) for place in files if not _may_go(place)]
    reached = elf.reachable(roots, {**aliases, **names})
    kept = {place for place in files if not _may_go(place) or basename(place) in reached}
    return [entry for entry in entries if links.get(entry[0], entry[0]) in kept]


def _may_go(place: str) -> bool:
    name = basename(place)
    return dirname(place) in {"", "PySide6/Qt/lib"} and name.startswith("lib") and not name.startswith("libpython")


def unneeded_families(transformers: Path) -> tuple[str, ...]:
    """The model families of transformers that no text model needs: pictures, sound, video, their encoders.

    Kept is whatever `AutoModelForCausalLM` can load, which is what Loquat accepts, and what those families' files
    import from others.

    Args:
        transformers: The library's folder; nothing of it is imported.
    """
    models = transformers / "models"
    families = {path.name for path in models.iterdir() if (path / "__init__.py").is_file()}
    kept = set(_ALWAYS) & families
    special = _mapping(models / "auto" / "auto_mappings.py", "SPECIAL_MODEL_TYPE_TO_MODULE_NAME")
    causal = _mapping(models / "auto" / "modeling_auto.py", "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES")
    waiting = {special.get(name, name.replace("-", "_")) for name in causal} & families
    while waiting:
        family = waiting.pop()
        kept.add(family)
        waiting |= (_imported(models / family) & families) - kept
    return tuple(sorted(families - kept))


def _imported(family: Path) -> set[str]:
    return {name for file in family.glob("*.py") for name in _OF_ANOTHER.findall(file.read_text(encoding="utf-8"))}


def _mapping(file: Path, name: str) -> Mapping[str, str]:
    """A constant `name = OrderedDict([(key, value), ...])` or `{...}` of a source file."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [getattr(target, "id", "") for target in node.targets] == [name]:
            value = node.value
            return dict(ast.literal_eval(value.args[0] if isinstance(value, ast.Call) else value))
    raise LookupError(f"{name} is not in {file}")


def _matches(path: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)
