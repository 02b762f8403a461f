#!/usr/bin/env bash
# Installs what the build needs of the system: on Linux the libraries that go into the program and the packing tools,
# on Windows Inno Setup; macOS has all. Run it from the repository's root.
set -euo pipefail

case "$(uname -s)" in
  Linux)
    read -r -a libraries <<<"$(python3 packaging/system_libraries.py)"
    sudo apt-get update -qq
    sudo DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      "${libraries[@]}" binutils desktop-file-utils appstream lintian zstd
    ;;
  MINGW* | MSYS* | CYGWIN*)
    command -v ISCC >/dev/null 2>&1 || [ -x "/c/Program Files (x86)/Inno Setup 6/ISCC.exe" ] ||
      choco install innosetup --yes --no-progress --version 6.3.3
    ;;
  Darwin) ;;
  *)
    echo "There is no build for $(uname -s)." >&2
    exit 2
    ;;
esac
