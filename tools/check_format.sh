#!/bin/sh
# check_format.sh: fails if a tracked C++ file is not as clang-format 14 would write it.
set -eu
cd "$(dirname "$0")/.."
git ls-files -z '*.cc' '*.h' '*.inc' | xargs -0 -r clang-format-14 --dry-run -Werror
