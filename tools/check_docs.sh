#!/bin/bash
# check_docs.sh [DLBENCH]: what can be checked of the documentation by machine.
# - no tracked file names a folder of a developer's machine, or a host that packages come from;
# - every relative link of a Markdown file, and every "docs/NAME.md" named anywhere, leads to a file;
# - every subcommand that `DLBENCH --help` lists is told of in README.md or docs/.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1-}
bad=0
complain() { echo "$*"; bad=1; }

# The patterns are put together here, so that this file does not match itself.
folders="(^|[^A-Za-z0-9_.\$}-])/(wor""k|roo""t|far""m)/"
while IFS= read -r line; do complain "a folder of one machine: $line"; done \
  < <(git grep -nIE "$folders" -- . ':!LICENSE' | cut -c1-160)

hosts() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources \
    2>/dev/null || true
  if command -v pip >/dev/null; then pip config list 2>/dev/null || true; fi
  if command -v npm >/dev/null; then npm config get registry 2>/dev/null || true; fi
}
while read -r host; do
  while IFS= read -r line; do complain "a package host: $line"; done \
    < <(git grep -nIF "$host" -- . ':!LICENSE' | cut -c1-160)
done < <(hosts | grep -v '^ *#' | grep -oE 'https?://[^/ "'\'']+' | sed -E 's#https?://##' | sort -u)

while IFS= read -r page; do
  folder=$(dirname "$page")
  while read -r link; do
    target=${link%%#*}
    if [ -n "$target" ] && [ ! -e "$folder/$target" ]; then
      complain "$page: the link '$link' leads nowhere"
    fi
  done < <(grep -oE '\]\([^)# ]+[^) ]*\)' "$page" | sed -E 's/^\]\((.*)\)$/\1/' | grep -vE '^[a-z]+:')
done < <(git ls-files '*.md')

while IFS=: read -r file line page; do
  if [ ! -e "$page" ]; then complain "$file:$line: there is no $page"; fi
done < <(git grep -noIE '\bdocs/[a-z0-9-]+\.md\b' -- . | sort -u)

if [ -n "$program" ]; then
  while read -r command; do
    if ! git grep -qE "dlbench $command\b" -- README.md docs; then
      complain "README.md and docs/ say nothing of 'dlbench $command'"
    fi
  done < <("$program" --help | sed -n '/^Subcommands:/,$s/^  \([a-z-]*\)  .*/\1/p')
fi
exit "$bad"
