#!/usr/bin/env bash
# Builds dlbench and runs its tests; the last line counts them. See --help.
set -euo pipefail
cd "$(dirname "$0")"

usage() {
  cat <<'END'
usage: ./test.sh [--filter REGEX] [--no-cells] [--all] [--help]

Installs what is missing, builds the preset dev, runs the unit, simulation and command-line tests, then
verifies one cell (network FCN-R, batch 64, one thread) in each of onednn, libtorch and pytorch. The
last line is "N passed, N failed, N skipped"; a verified cell counts as a test.

  --filter REGEX  only tests whose name matches, and no cells
  --no-cells      no frameworks: the tests alone
  --all           the cells of every framework that can be installed here
END
}

filter=
cells=yes
all=no
while [ $# -gt 0 ]; do
  case $1 in
    --filter) [ $# -ge 2 ] || { usage >&2; exit 2; }; filter=$2; cells=no; shift 2 ;;
    --no-cells) cells=no; shift ;;
    --all) all=yes; shift ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

steps_name=test
. tools/steps.sh
use_ccache
passed=0 failed=0 skipped=0

# Prints the closing line and ends the script.
finish() {
  echo
  printf '%s\n' "${step_times[@]}"
  if [ $((passed + failed)) -eq 0 ]; then
    echo "No test ran."
    failed=1
  fi
  echo "$passed passed, $failed failed, $skipped skipped"
  if [ "$failed" -eq 0 ]; then exit 0; else exit 1; fi
}
stop() { failed=$((failed + 1)); finish; }

step packages "Installing missing packages" tools/install_packages.sh build run test || stop
step configure "Configuring" cmake --preset dev || stop
step build "Building with warnings as errors" cmake --build --preset dev -j "$(build_jobs)" || stop

# Counts from CTest's own record, not from what it prints.
count_of() {
  local value
  value=$(sed -n "s/^.*[[:space:]]$1=\"\([0-9]*\)\".*$/\1/p" build/test-results.xml | head -n 1)
  echo "${value:-0}"
}
rm -f build/test-results.xml
status=0
step ctest "Running the tests" ctest --test-dir build/dev --output-on-failure --no-tests=error \
  -j "$(nproc)" -LE slow --output-junit "$PWD/build/test-results.xml" \
  ${filter:+-R "$filter"} || status=$?
if [ -f build/test-results.xml ]; then
  failed=$(count_of failures)
  skipped=$(($(count_of skipped) + $(count_of disabled)))
  passed=$(($(count_of tests) - failed - skipped))
fi
if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then failed=1; fi

# One cell of a framework: installed if need be, verified, counted.
cell() {
  local name=$1 status=0 program=build/dev/bin/dlbench
  say "Making the environment of $name"
  install_framework "$program" "$name" "build/test-$name.log" no || status=$?
  if [ "$status" -eq 3 ]; then
    say "Skipped: $name, whose download is large here"
    skipped=$((skipped + 1))
    return
  fi
  if [ "$status" -ne 0 ]; then
    tail -n 40 "build/test-$name.log"
    say "FAILED: $name could not be installed"
    failed=$((failed + 1))
    return
  fi
  if shown "cell-$name" "Verifying FCN-R in $name" \
    "$program" verify fcn-r --frameworks "$name" --batch 64 --threads 1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
}
if [ "$cells" = yes ]; then
  names="onednn pytorch libtorch"
  if [ "$all" = yes ]; then
    names=$(build/dev/bin/dlbench frameworks list --format json |
      sed -n 's/^ *"name": *"\([^"]*\)".*/\1/p' | sort -u)
  fi
  # Unquoted on purpose: one word a name. PyTorch comes before libtorch, which uses its files.
  for name in $names; do cell "$name"; done
fi
finish
