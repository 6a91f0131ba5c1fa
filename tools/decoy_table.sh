#!/bin/bash
# decoy_table.sh BUILD_FOLDER: launches every decoy and writes docs/decoys.md from what the gate said.
set -euo pipefail
if [ $# -ne 1 ]; then echo "usage: $0 BUILD_FOLDER" >&2; exit 2; fi
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$build/tests/decoys/decoy_table" "$scratch/run" "$build/tests/decoys/decoy_adapter" > "$scratch/decoys.md"
status=0
"$build/tests/decoys/pytorch_gate" "$scratch/pytorch" > "$scratch/pytorch.md" || status=$?
case $status in
  0) cat "$scratch/pytorch.md" >> "$scratch/decoys.md" ;;
  77) echo "without the decoys of PyTorch, which is not installed" >&2 ;;
  *) exit "$status" ;;
esac
mv "$scratch/decoys.md" docs/decoys.md
