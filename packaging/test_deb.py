#!/usr/bin/env python3
"""Installs the Debian package in a clean root without Python and without a network, tries it there, and purges it.

    sudo python3 packaging/test_deb.py dist/loquat_VERSION_amd64.deb [--work FOLDER] [--picture FILE]

Needs debootstrap, lintian, desktop-file-utils, appstream, xvfb, xdotool, imagemagick and root; the network only while
the clean root and the packages that the package depends on are fetched. Standard library only.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))

from building.tree import files_of

SUITE: Final = "bookworm"
PERSON: Final = "person"
UID: Final = 1000
WINDOW_S: Final = 60
MODEL_S: Final = 300
# What dpkg itself notes of a package that came and went, and what the tests' own programs write.
_NOTED: Final = (
    "var/lib/dpkg/",
    "var/log/",
    "var/cache/",
    "tmp/",
    f"home/{PERSON}/",
    "etc/ld.so.cache",
    "proc/",
    "dev/",
)
_SCREENS: Final = "/tmp/.X11-unix"  # noqa: S108 - where every X server listens
NONE: Final[Mapping[str, str]] = {}
_OFFSCREEN: Final = {"QT_QPA_PLATFORM": "offscreen"}
_UNASKED: Final = {"DEBIAN_FRONTEND": "noninteractive"}
_LIBRARY: Final = ("libEGL.so.1", "libegl1")


class Failed(Exception):
    """Something is not as it must be."""


@dataclass(frozen=True, slots=True)
class Root:
    """A Debian system in a folder.

    Attributes:
        folder: Where it lies.
    """

    folder: Path

    def run(
        self, command: str, variables: Mapping[str, str] = NONE, *, person: bool = False, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run a shell command in it, without any network, with nothing of this process's environment.

        Args:
            command: For the root's own shell.
            variables: Of its environment, besides HOME and PATH.
            person: As an ordinary user.
            check: Raise if it fails.

        Raises:
            Failed: It ended with another code than 0.
        """
        words = self.command(command, variables, person=person)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise Failed(f"`{command}` ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done

    def command(
        self, command: str, variables: Mapping[str, str] = NONE, *, person: bool = False, network: bool = False
    ) -> list[str]:
        """The words that run a shell command in it."""
        home = f"/home/{PERSON}" if person else "/root"
        set_to = {"HOME": home, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", **variables}
        words = ["env", "-i", *[f"{name}={value}" for name, value in set_to.items()], "sh", "-c", command]
        user = [f"--userspec={UID}:{UID}"] if person else []
        place = shlex.quote(str(self.folder))
        mounts = [f"mount -t proc proc {place}/proc", f"mount --rbind /dev {place}/dev"]
        mounts += [f"mkdir -p {place}{_SCREENS}", f"mount --bind {_SCREENS} {place}{_SCREENS}"]
        script = " && ".join([*mounts, f"exec {shlex.join(['chroot', *user, str(self.folder), *words])}"])
        alone = ["unshare", *([] if network else ["--net"]), "--mount", "--pid", "--fork", "--kill-child"]
        return [*alone, "sh", "-c", script]

    def listing(self) -> set[str]:
        """Every file in it but those that dpkg or the person's programs write."""
        paths = (path.relative_to(self.folder).as_posix() for path in files_of(self.folder))
        return {path for path in paths if not path.startswith(_NOTED)}


def clean_root(work: Path, package: Path) -> Root:
    """A fresh copy of a minimal Debian, with everything installed that the package depends on, but not itself."""
    pristine = work / "pristine"
    if not (pristine / "complete").exists():
        shutil.rmtree(pristine, ignore_errors=True)
        subprocess.run(["debootstrap", "--variant=minbase", SUITE, str(pristine)], check=True)
        (pristine / "complete").touch()
    root = Root(work / "root")
    shutil.rmtree(root.folder, ignore_errors=True)
    subprocess.run(["cp", "-a", str(pristine), str(root.folder)], check=True)
    shutil.copy("/etc/resolv.conf", root.folder / "etc" / "resolv.conf")
    shutil.copy(package, root.folder / "loquat.deb")
    fetch = "apt-get update -qq && apt-get install -qq --download-only --no-install-recommends /loquat.deb"
    passed = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    subprocess.run(root.command(fetch, {**_UNASKED, **passed}, network=True), check=True)
    root.run("dpkg --install $(ls /var/cache/apt/archives/*.deb | grep -v loquat)", _UNASKED)
    root.run(f"useradd --create-home --uid {UID} {PERSON}")
    if root.run("command -v python3 || command -v python", check=False).stdout.strip():
        raise Failed("The clean root has a Python, so it proves nothing.")
    return root


def check_package(package: Path) -> None:
    """What Debian's own tools say of the package, without installing it."""
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(["dpkg-deb", "--extract", str(package), name], check=True)
        share = Path(name) / "usr" / "share"
        subprocess.run(["desktop-file-validate", *map(str, share.glob("applications/*"))], check=True)
        subprocess.run(
            ["appstreamcli", "validate", "--no-net", "--pedantic", *map(str, share.glob("metainfo/*"))], check=True
        )
    subprocess.run(["lintian", "--fail-on", "error", "--tag-display-limit", "0", str(package)], check=True)


def self_test(root: Root) -> dict[str, Any]:
    """The program's own test, as a person with an empty home and no screen."""
    done = root.run("loquat --self-test", _OFFSCREEN, person=True)
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def window(root: Root, picture: Path) -> float:
    """Open the window on a virtual screen and take a picture with the model ready; the seconds until it was there.

    Raises:
        Failed: No window came, or no model.
    """
    with _screen() as display:
        command = root.command("exec loquat --new", {"DISPLAY": display}, person=True)
        started = time.monotonic()
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
            try:
                wait_until(lambda: _has_window(display), child, WINDOW_S, "No window")
                seconds = time.monotonic() - started
                wait_until(lambda: _has_model(root), child, MODEL_S, "No model was ready")
                subprocess.run(["import", "-display", display, "-window", "root", str(picture)], check=True)
            finally:
                child.kill()  # unshare heeds nothing less; what it runs ends with it
    return seconds


def doctor(root: Root) -> str:
    """`loquat doctor` is content, and with a library of Qt's gone it names it and the command; returns what it said.

    Raises:
        Failed: It does not.
    """
    root.run("loquat doctor", _OFFSCREEN, person=True)
    library, package = _LIBRARY
    file = next(root.folder.glob(f"usr/lib/*/{library}"))
    aside = file.with_name("aside")
    file.rename(aside)
    try:
        done = root.run("loquat doctor", person=True, check=False)
    finally:
        aside.rename(file)
    if library not in done.stdout or f"apt install {package}" not in done.stdout:
        raise Failed(f"With {library} gone, doctor does not say so:\n{done.stdout}\n{done.stderr}")
    return next(line for line in done.stdout.splitlines() if package in line)


def main(arguments: list[str]) -> int:
    """Test a package; returns the exit code."""
    options = _options(arguments)
    work, package = options.work.resolve(), options.package.resolve()
    work.mkdir(parents=True, exist_ok=True)
    if not Path(_SCREENS).is_dir():  # no X server ran here yet; the clean root shares this place
        Path(_SCREENS).mkdir()
        Path(_SCREENS).chmod(0o1777)
    check_package(package)
    root = clean_root(work, package)
    before = root.listing()
    root.run("dpkg --install /loquat.deb")
    print(f"Installed: {_weight(root.folder / 'opt' / 'loquat') / 1e6:.0f} MB")
    print(f"Self-test: {json.dumps(self_test(root))}")
    print(f"Window after {window(root, options.picture):.1f} s, see {options.picture}")
    print(f"Doctor, with {_LIBRARY[0]} gone: {doctor(root)}")
    root.run("dpkg --purge loquat")
    if left := root.listing() ^ before:
        raise Failed(f"Purging left or took {len(left)} files: {sorted(left)[:20]}")
    kept = sorted(path.name for path in (root.folder / "home" / PERSON).glob(".local/share/loquat/*"))
    print(f"Purged: nothing is left but the person's own data ({', '.join(kept)})")
    return 0


@contextlib.contextmanager
def _screen() -> Iterator[str]:
    """A virtual screen, that any user may draw on; its name."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x860x24", "-nolisten", "tcp", "-ac", "-noreset"]
    with subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL) as child:
        os.close(writing)
        try:
            with os.fdopen(reading) as pipe:
                number = pipe.readline().strip()  # empty if it died
            if not number:
                raise Failed("Xvfb did not start.")
            yield f":{number}"
        finally:
            child.terminate()


def wait_until(condition: Callable[[], bool], child: subprocess.Popen[str], seconds: float, otherwise: str) -> None:
    """Ask until it is so, while the program runs.

    Raises:
        Failed: It is not so in time, or the program ended.
    """
    end = time.monotonic() + seconds
    while not condition():
        if child.poll() is not None:
            raise Failed(f"The program ended with {child.returncode}: {child.stderr.read() if child.stderr else ''}")
        if time.monotonic() > end:
            raise Failed(f"{otherwise} within {seconds:g} s.")
        time.sleep(0.05)


def _has_window(display: str) -> bool:
    search = ["xdotool", "search", "--onlyvisible", "--name", "Loquat"]
    environment = {**os.environ, "DISPLAY": display}
    return bool(subprocess.run(search, env=environment, capture_output=True, text=True, check=False).stdout.strip())


def _has_model(root: Root) -> bool:
    """Whether a model is ready, as the window shows: its name is then kept in the settings, for the next start."""
    try:
        text = (root.folder / "home" / PERSON / ".config" / "loquat" / "settings.json").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return bool(json.loads(text).get("last_model"))


def _weight(folder: Path) -> int:
    return sum(path.lstat().st_size for path in files_of(folder))


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path)
    parser.add_argument("--work", type=Path, default=Path("build/chroot"), help="about 5 GB are written there")
    parser.add_argument("--picture", type=Path, default=Path("build/window.png"))
    return parser.parse_args(arguments)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failed as failure:
        sys.exit(str(failure))
