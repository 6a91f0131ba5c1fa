#!/bin/bash
# decoy_table.sh BUILD_FOLDER: launches every decoy and writes docs/decoys.md from what the gate said.
set -euo pipefail
if [ $# -ne 1 ]; then echo "usage: $0 BUILD_FOLDER" >&2; exit 2; fi
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$build/tests/decoys/decoy_table" "$scratch/run" "$build/tests/decoys/decoy_adapter" > "$scratch/decoys.md"
mv "$scratch/decoys.md" docs/decoys.md
