#!/usr/bin/env python3
"""The file that tells people's programs of a new version (see engine/updates.py), and the key that signs it.

    release_file.py key                                     a new key: print both halves
    release_file.py source ADDRESS PUBLIC_KEY               what a build has to know, for assets/updates.json
    release_file.py sign VERSION PAGE FILES... > latest.json

`sign` takes the private half from LOQUAT_RELEASE_KEY, so that it is in no command line. Needs `cryptography`.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SECRET = "LOQUAT_RELEASE_KEY"  # noqa: S105 - the name of a variable


def new_key() -> tuple[str, str]:
    """A private key and its public half, both in base64."""
    private = Ed25519PrivateKey.generate()
    return _text(private.private_bytes_raw()), _text(private.public_key().public_bytes_raw())


def source(address: str, public_key: str) -> str:
    """The text of assets/updates.json."""
    return json.dumps({"address": address, "public_key": public_key}, indent=2) + "\n"


def signed_release(private_key: str, version: str, page: str, files: list[Path], date: str) -> str:
    """The text of latest.json."""
    hashes = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(files)}
    release = json.dumps({"version": version, "date": date, "page": page, "files": hashes}, sort_keys=True)
    signature = Ed25519PrivateKey.from_private_bytes(base64.b64decode(private_key)).sign(release.encode())
    return json.dumps({"signed": release, "signature": _text(signature)}, indent=2) + "\n"


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def main(argv: list[str]) -> int:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("key")
    of_source = commands.add_parser("source")
    of_source.add_argument("address")
    of_source.add_argument("public_key")
    of_sign = commands.add_parser("sign")
    of_sign.add_argument("version")
    of_sign.add_argument("page")
    of_sign.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args(argv)
    if options.command == "key":
        private, public = new_key()
        print(f"private (keep it secret, as {SECRET}): {private}\npublic: {public}")
    elif options.command == "source":
        print(source(options.address, options.public_key), end="")
    elif SECRET not in os.environ:
        print(f"{SECRET} is not set.", file=sys.stderr)
        return 2
    else:
        today = datetime.now(UTC).date().isoformat()
        print(signed_release(os.environ[SECRET], options.version, options.page, options.files, today), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
