#!/usr/bin/env bash
# Gathers what the three systems built into one draft of a release: `publish.sh VERSION`, with the folders in dist/.
set -euo pipefail

version=${1:?publish.sh VERSION}
mkdir -p release
find dist -type f ! -name SHA256SUMS ! -name 'sizes.*' -exec mv {} release/ \;
for system in linux windows macos; do
  [ -f "dist/loquat-$system/sizes.txt" ] && mv "dist/loquat-$system/sizes.txt" "release/sizes-$system.txt"
done
(cd release && sha256sum -- * >SHA256SUMS)
if [ -n "${LOQUAT_RELEASE_KEY:-}" ]; then
  python3 -m pip install --quiet "$(grep -o "cryptography==[0-9.]*" pyproject.toml)"
  python3 packaging/release_file.py sign "$version" \
    "https://github.com/$GITHUB_REPOSITORY/releases/tag/v$version" release/* >latest.json
  mv latest.json release/
else
  echo "LOQUAT_RELEASE_KEY is not set: no latest.json, so installed programs are not told of this version."
fi
gh release create "v$version" --draft --title "Loquat $version" --notes-file CHANGELOG.md release/*
