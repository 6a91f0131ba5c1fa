#!/bin/bash
# check_tidy.sh [SECONDS] [BASE]: clang-tidy on the sources changed since BASE in the parts listed below, until SECONDS (900) are
# over; what was not reached by then is named. BASE is the last commit older than a day, or the first
# commit. Needs build/clang (cmake --preset clang).
set -euo pipefail
cd "$(dirname "$0")/.."
export deadline=$((EPOCHSECONDS + ${1:-900}))
base=${2:-$(git rev-list -1 --before='24 hours ago' HEAD)}
if [ -z "$base" ]; then base=$(git rev-list --max-parents=0 HEAD | tail -n 1); fi
if [ ! -f build/clang/compile_commands.json ]; then cmake --preset clang; fi

check() {
  if [ "$EPOCHSECONDS" -ge "$deadline" ]; then echo "not reached: $1"; return 0; fi
  clang-tidy-14 -p build/clang --quiet "$1" 2>/dev/null
}
export -f check
# Parts without findings so far; a part joins when its findings are mended.
clean_parts="src/machine"
# Newest changes first, so that a bounded time is spent where it matters.
# Unquoted on purpose: one word a part.
git diff --name-only --diff-filter=d "$base" HEAD -- $clean_parts | grep '\.cc$' |
  while read -r file; do echo "$(git log -1 --format=%ct -- "$file") $file"; done |
  sort -rn | cut -d' ' -f2- | xargs -r -n 1 -P "$(nproc)" bash -c 'check "$0"'
