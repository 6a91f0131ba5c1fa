#!/usr/bin/env bash
# From a bare Debian 12 machine to verified numbers, in one command. See --help.
set -euo pipefail
cd "$(dirname "$0")"

usage() {
  cat <<'END'
usage: ./quickstart.sh [--yes] [--first-only] [--help]

Installs the packages that are missing, builds dlbench, leaves it as ./dlbench, and prints a first
verified number from oneDNN alone. Then it makes the environments of PyTorch and libtorch, and compares
the three. A second call uses what the first one made and goes to the comparison at once.

  --yes         go on although the PyTorch download is large (about 3 GB where pip's configured
                sources have no build for the CPU alone)
  --first-only  stop after the first number

Logs are in build/quickstart-*.log, results in dlbench-results/.
END
}

ask=ask
first_only=no
for argument in "$@"; do
  case $argument in
    --yes) ask=yes ;;
    --first-only) first_only=yes ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

steps_name=quickstart
. tools/steps.sh
use_ccache

# Where only an administrator can install, one line names all that the whole script needs.
sections=build
if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then sections="build run"; fi
# Unquoted on purpose: one word a section.
step packages "Installing missing packages" tools/install_packages.sh $sections || exit 1
step configure "Configuring" cmake --preset release -DDLBENCH_TESTS=OFF || exit 1
step build "Building dlbench" cmake --build --preset release -j "$(build_jobs)" \
  --target dlbench dlbench-adapter-onednn || exit 1
ln -sfn build/release/bin/dlbench dlbench

# ready NAME: its environment is there, so nothing has to be downloaded for it.
ready() { ./dlbench frameworks list | awk -v name="$1" '$1 == name && $NF == "ready" { found = 1 } END { exit !found }'; }

# While PyTorch is still to be downloaded, oneDNN gives a number at once.
if [ "$first_only" = yes ] || ! ready pytorch || ! ready libtorch; then
  shown first "First number: FCN-R in oneDNN" ./dlbench run fcn-r --frameworks onednn --quick || exit 1
fi
if [ "$first_only" = yes ]; then
  say "Done. Next: ./quickstart.sh compares it with PyTorch."
  exit 0
fi

step packages-run "Installing Python, which PyTorch needs" tools/install_packages.sh run || exit 1
frameworks=onednn
for name in pytorch libtorch; do
  say "Making the environment of $name (log: build/quickstart-$name.log)"
  status=0
  install_framework ./dlbench "$name" "build/quickstart-$name.log" "$ask" || status=$?
  case $status in
    0) frameworks=$frameworks,$name ;;
    3) say "Left out, since its download is large: ./quickstart.sh --yes takes it"; break ;;
    *) tail -n 40 "build/quickstart-$name.log"; say "FAILED: $name could not be installed"; exit 1 ;;
  esac
done
if [ "$frameworks" != onednn ]; then
  shown compare "Comparing ${frameworks//,/, }" \
    ./dlbench run fcn-r --frameworks "$frameworks" --quick || exit 1
fi
say "Done. Results are in dlbench-results/; './dlbench report' shows them again, './dlbench --help'"
echo "       lists the rest, './dlbench doctor' says what this machine lacks."
