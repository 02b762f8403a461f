#!/usr/bin/env bash
# Makes the AppImage of dist/Loquat.AppDir. Its tool and its runtime are fetched at pinned versions and checked.
#   APPIMAGETOOL_SHA256 and APPIMAGE_RUNTIME_SHA256 hold the checksums; without them nothing that was fetched is run.
set -euo pipefail

tool_version=1.9.0
runtime_version=20251108
releases=https://github.com/AppImage
work=build/appimage
version=$(python3 -c 'import tomllib; print(tomllib.load(open("pyproject.toml", "rb"))["project"]["version"])')
target=dist/loquat-$version-linux-x86_64.AppImage

fetch() { # ADDRESS FILE SHA256
  curl --fail --silent --show-error --location --proto '=https' --retry 3 --output "$2" "$1"
  echo "$3  $2" | sha256sum --check --quiet
}

if [ -z "${APPIMAGETOOL_SHA256:-}" ] || [ -z "${APPIMAGE_RUNTIME_SHA256:-}" ]; then
  echo "APPIMAGETOOL_SHA256 and APPIMAGE_RUNTIME_SHA256 are not set: no AppImage is made."
  exit 0
fi
mkdir -p "$work"
fetch "$releases/appimagetool/releases/download/$tool_version/appimagetool-x86_64.AppImage" \
  "$work/appimagetool" "$APPIMAGETOOL_SHA256"
fetch "$releases/type2-runtime/releases/download/$runtime_version/runtime-x86_64" \
  "$work/runtime" "$APPIMAGE_RUNTIME_SHA256"
chmod +x "$work/appimagetool"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) "$work/appimagetool" --appimage-extract-and-run \
  --runtime-file "$work/runtime" --comp zstd dist/Loquat.AppDir "$target"
APPIMAGE_EXTRACT_AND_RUN=1 QT_QPA_PLATFORM=offscreen "$target" --self-test
(cd dist && sha256sum "$(basename "$target")" >>SHA256SUMS)
