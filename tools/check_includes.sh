#!/bin/sh
# check_includes.sh FOLDER NAME DEPENDENCY...: fails if a source in FOLDER includes a header of a part of
# dlbench that is neither its own nor (transitively, as linked) among the named dependencies' parts.
set -eu
folder=$1; shift
allowed=$(printf '%s\n' "$@" | sed 's/^dlbench_//' | paste -sd'|')
# What a dependency depends on itself is visible too: its own CMakeLists.txt names it.
root=$(dirname "$folder")
previous=
while [ "$allowed" != "$previous" ]; do
  previous=$allowed
  for part in $(printf '%s' "$allowed" | tr '|' ' '); do
    [ -f "$root/$part/CMakeLists.txt" ] || continue
    more=$(tr '\n' ' ' < "$root/$part/CMakeLists.txt" | sed -n 's/.*DEPENDS \([a-z ]*\).*/\1/p')
    for extra in $more; do
      case "|$allowed|" in *"|$extra|"*) ;; *) allowed="$allowed|$extra" ;; esac
    done
  done
done
bad=$(grep -nE '^#include "[a-z_]+/' "$folder"/*.h "$folder"/*.cc 2>/dev/null |
  grep -vE "#include \"($allowed)/" || true)
if [ -n "$bad" ]; then
  echo "includes against the direction of dependency (allowed: $allowed):" >&2
  echo "$bad" >&2
  exit 1
fi
