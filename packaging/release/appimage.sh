#!/usr/bin/env bash
# Makes the AppImage of dist/Loquat.AppDir. Its tool and its runtime are fetched at pinned versions and checked.
set -euo pipefail

tool_version=1.9.0
tool_sha256=46fdd785094c7f6e545b61afcfb0f3d98d8eab243f644b4b17698c01d06083d1
runtime_version=20251108
runtime_sha256=2fca8b443c92510f1483a883f60061ad09b46b978b2631c807cd873a47ec260d
releases=https://github.com/AppImage
work=build/appimage
version=$(python3 -c 'import tomllib; print(tomllib.load(open("pyproject.toml", "rb"))["project"]["version"])')
target=dist/loquat-$version-linux-x86_64.AppImage

fetch() { # ADDRESS FILE SHA256
  curl --fail --silent --show-error --location --proto '=https' --retry 3 --output "$2" "$1"
  echo "$3  $2" | sha256sum --check --quiet
}

mkdir -p "$work"
fetch "$releases/appimagetool/releases/download/$tool_version/appimagetool-x86_64.AppImage" \
  "$work/appimagetool" "$tool_sha256"
fetch "$releases/type2-runtime/releases/download/$runtime_version/runtime-x86_64" \
  "$work/runtime" "$runtime_sha256"
chmod +x "$work/appimagetool"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) "$work/appimagetool" --appimage-extract-and-run \
  --runtime-file "$work/runtime" --comp zstd dist/Loquat.AppDir "$target"
APPIMAGE_EXTRACT_AND_RUN=1 QT_QPA_PLATFORM=offscreen "$target" --self-test
(cd dist && sha256sum "$(basename "$target")" >>SHA256SUMS)
