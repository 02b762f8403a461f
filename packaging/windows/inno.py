"""The setup program for Windows, made by Inno Setup's compiler from loquat.iss; signed where a certificate is there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from building.job import Job
from building.project import DIST, HOMEPAGE, run

SCRIPT: Final = Path(__file__).with_name("loquat.iss")
_PLACES: Final = (r"C:\Program Files (x86)\Inno Setup 6\ISCC.exe", r"C:\Program Files\Inno Setup 6\ISCC.exe")
CERTIFICATE: Final = "LOQUAT_WINDOWS_CERTIFICATE"
"""The thumbprint of a code signing certificate in the person's store; nothing is signed without it."""
_KITS: Final = r"C:\Program Files (x86)\Windows Kits\10\bin"
_STAMPS: Final = "http://timestamp.digicert.com"  # the protocol signs what it answers; it has no TLS


def make(job: Job, variant: str = "") -> Path:
    """Make the setup program; returns its file.

    Args:
        job: What is packed.
        variant: Stands in the file's name, "-cuda" say.

    Raises:
        SystemExit: Inno Setup is not installed, or refused the script.
    """
    sign(job.program / "loquat.exe")
    sign(job.program / "loquat-cli.exe")
    run([find_compiler(), *arguments(job, variant)])
    target = DIST / f"loquat-{job.project.version}-windows-x64{variant}-setup.exe"
    sign(target)
    return target


def arguments(job: Job, variant: str = "") -> list[str]:
    """What the compiler is told."""
    defined = {
        "Version": job.project.version,
        "Program": str(job.program),
        "Icons": str(job.icons),
        "Out": str(DIST),
        "Homepage": HOMEPAGE,
        "Variant": variant,
    }
    return ["/Qp", *[f"/D{name}={value}" for name, value in defined.items()], str(SCRIPT)]


def find_compiler() -> str:
    """Inno Setup's command-line compiler.

    Raises:
        SystemExit: There is none.
    """
    found = shutil.which("ISCC") or next((place for place in _PLACES if Path(place).is_file()), None)
    if found is None:
        raise SystemExit("Inno Setup 6 is not installed; get it with: winget install JRSoftware.InnoSetup")
    return found


def find_signtool() -> str:
    """The program of the Windows SDK that signs; the newest, where there are several.

    Raises:
        SystemExit: There is none.
    """
    found = shutil.which("signtool") or max(map(str, Path(_KITS).glob("10.*/x64/signtool.exe")), default=None)
    if found is None:
        raise SystemExit("signtool is not installed; get the Windows SDK with: winget install Microsoft.WindowsSDK")
    return found


def sign(file: Path) -> None:
    """Sign a program with Authenticode, where a certificate is named; else say that it is not signed."""
    thumbprint = os.environ.get(CERTIFICATE)
    if not thumbprint:
        print(f"{file.name} is not signed: {CERTIFICATE} is not set.", flush=True)
        return
    run([find_signtool(), "sign", "/sha1", thumbprint, "/fd", "sha256", "/tr", _STAMPS, "/td", "sha256", str(file)])
