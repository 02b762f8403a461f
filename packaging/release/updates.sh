#!/usr/bin/env bash
# Writes assets/updates.json, by which an installed program knows where word of new versions is and whose signature it
# bears; without the variables the program has no such setting. `packaging/release_file.py key` makes the key.
set -euo pipefail

if [ -z "${UPDATES_ADDRESS:-}" ] || [ -z "${UPDATES_PUBLIC_KEY:-}" ]; then
  echo "UPDATES_ADDRESS and UPDATES_PUBLIC_KEY are not set: this build will not be told of new versions."
  exit 0
fi
python3 -c 'import json, sys; print(json.dumps({"address": sys.argv[1], "public_key": sys.argv[2]}, indent=2))' \
  "$UPDATES_ADDRESS" "$UPDATES_PUBLIC_KEY" >assets/updates.json
