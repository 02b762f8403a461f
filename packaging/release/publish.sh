#!/usr/bin/env bash
# Gathers what the three systems built into one draft of a release: `publish.sh VERSION`, with the folders in dist/.
set -euo pipefail

version=${1:?publish.sh VERSION}
if ! grep -q "^version = \"$version\"$" pyproject.toml; then
  echo "The tag says $version, and pyproject.toml another version." >&2
  exit 1
fi
mkdir -p release
find dist -type f ! -name SHA256SUMS ! -name 'sizes.*' -exec mv {} release/ \;
for system in linux windows macos; do
  [ -f "dist/loquat-$system/sizes.txt" ] && mv "dist/loquat-$system/sizes.txt" "release/sizes-$system.txt"
done
(cd release && sha256sum -- * >SHA256SUMS)
if [ -n "${LOQUAT_RELEASE_KEY:-}" ]; then
  awk '/^(cffi|cryptography|pycparser)==/ { on = 1 } on { print } on && !/\\$/ { on = 0 }' \
    packaging/lock/linux-x86_64-cp311.txt >signing.txt
  python3 -m pip install --quiet --require-hashes --no-deps --requirement signing.txt
  python3 packaging/release_file.py sign "$version" \
    "https://github.com/$GITHUB_REPOSITORY/releases/tag/v$version" release/* >latest.json
  mv latest.json release/
else
  echo "LOQUAT_RELEASE_KEY is not set: no latest.json, so installed programs are not told of this version."
fi
gh release create "v$version" --draft --title "Loquat $version" --notes-file CHANGELOG.md release/*
