"""The disk image for macOS on Apple silicon: the app signed from the inside out, then packed, notarised and stapled.

Signing and notarising happen where their secrets are there; without them the app is signed ad hoc, as every arm64
program must be, and macOS asks the person once whether to open it.
"""

from __future__ import annotations

import os
import plistlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from building.job import Job
from building.project import BUILD, DIST, run

ENTITLEMENTS: Final = Path(__file__).with_name("entitlements.plist")
IDENTITY: Final = "LOQUAT_MACOS_IDENTITY"
"""The name of a "Developer ID Application" certificate in the keychain."""
PROFILE: Final = "LOQUAT_MACOS_NOTARY_PROFILE"
"""What `xcrun notarytool store-credentials` was told to call the credentials."""
KEYCHAIN: Final = "LOQUAT_MACOS_KEYCHAIN"
"""The keychain that these credentials are in, where it is not the person's own."""
_AD_HOC: Final = "-"
_MAGIC: Final = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")  # Mach-O with 64 bits, and for several processors
_OLDEST: Final = "14.0"  # torch's


def make(job: Job) -> Path:
    """Make the disk image; returns its file."""
    identity = os.environ.get(IDENTITY) or _AD_HOC
    describe(job.program / "Contents" / "Info.plist", job.project.version)
    sign(job.program, identity)
    target = DIST / f"loquat-{job.project.version}-macos-arm64.dmg"
    pack(job.program, target)
    if identity == _AD_HOC:
        print(f"{target.name} is not signed with a certificate: {IDENTITY} is not set.", flush=True)
    else:
        run(["codesign", "--force", "--timestamp", "--sign", identity, str(target)])
        notarise(target)
    return target


def describe(file: Path, version: str) -> None:
    """Complete what PyInstaller wrote of the app."""
    about = plistlib.loads(file.read_bytes())
    about |= {
        "CFBundleShortVersionString": version,
        "CFBundleVersion": version,
        "LSMinimumSystemVersion": _OLDEST,
        "LSApplicationCategoryType": "public.app-category.productivity",
        "NSHighResolutionCapable": True,
        "NSRequiresAquaSystemAppearance": False,
    }
    file.write_bytes(plistlib.dumps(about))


def sign(app: Path, identity: str) -> None:
    """Sign every library, the deepest first, then the app with its entitlements and the hardened runtime."""
    hardened = ["--timestamp", "--options", "runtime"] if identity != _AD_HOC else []
    for library in binaries(app):
        run(["codesign", "--force", *hardened, "--sign", identity, str(library)])
    entitled = ["--entitlements", str(ENTITLEMENTS)]
    run(["codesign", "--force", *hardened, *entitled, "--sign", identity, str(app)])
    run(["codesign", "--verify", "--deep", "--strict", str(app)])


def binaries(app: Path) -> Iterator[Path]:
    """Every Mach-O file of the app but its own program, the deepest first; links are what they point to."""
    own = app / "Contents" / "MacOS" / "loquat"
    files = sorted(app.rglob("*"), key=lambda path: (-len(path.parts), str(path)))
    for path in files:
        if path.is_file() and not path.is_symlink() and path != own and _is_binary(path):
            yield path


def pack(app: Path, target: Path) -> None:
    """Write the image: the app, and a link to drag it to."""
    staging = BUILD / "dmg"
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir(parents=True)
    run(["ditto", str(app), str(staging / app.name)])
    (staging / "Applications").symlink_to("/Applications")
    target.unlink(missing_ok=True)
    made = ["-volname", "Loquat", "-srcfolder", str(staging), "-format", "ULMO", "-fs", "APFS"]
    run(["hdiutil", "create", *made, str(target)])


def notarise(target: Path) -> None:
    """Have Apple look at the image and wait for the answer, where credentials are there; then staple it on."""
    profile = os.environ.get(PROFILE)
    if not profile:
        print(f"{target.name} is not notarised: {PROFILE} is not set.", flush=True)
        return
    keychain = os.environ.get(KEYCHAIN)
    credentials = ["--keychain-profile", profile, *(["--keychain", keychain] if keychain else [])]
    run(["xcrun", "notarytool", "submit", str(target), *credentials, "--wait"])
    run(["xcrun", "stapler", "staple", str(target)])


def _is_binary(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) in _MAGIC
