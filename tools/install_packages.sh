#!/bin/sh
# install_packages.sh SECTION...: installs what is missing of the sections of packages-debian.txt.
#
# Works as root or with sudo that asks no password; otherwise it prints the line that an
# administrator has to run and exits 1. Does nothing, without the network, where nothing is missing.
# --list prints the sections' packages, --missing those of them that are not installed.
set -eu
list=$(dirname "$0")/packages-debian.txt

usage() {
  echo "usage: $0 [--list|--missing] SECTION... (sections: $(sections | paste -sd' ' -))" >&2
  exit 2
}

sections() { sed -n 's/^\[\([a-z]*\)\].*/\1/p' "$list"; }

# The packages of one section, one a line.
packages_of() {
  sed 's/#.*//; s/[[:space:]]*$//' "$list" |
    awk -v section="[$1]" '/^\[/ { inside = ($1 == section); next } inside && NF { print $1 }'
}

missing_of() {
  for package in "$@"; do
    status=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
    case $status in ?i*) ;; *) echo "$package" ;; esac
  done
}

# Runs a command up to three times: mirrors fail now and then.
retry() {
  for attempt in 1 2 3; do
    "$@" && return 0
    echo "install_packages.sh: attempt $attempt of 3 failed: $*" >&2
    sleep $((attempt * 2))
  done
  return 1
}

mode=install
case ${1-} in
  --list) mode=list; shift ;;
  --missing) mode=missing; shift ;;
esac
[ $# -gt 0 ] || usage
wanted=
for section in "$@"; do
  found=$(packages_of "$section")
  [ -n "$found" ] || { echo "$0: no section '$section' in $list" >&2; usage; }
  wanted="$wanted $found"
done
# shellcheck disable=SC2086  # package names hold no blanks
set -- $wanted
if [ "$mode" = list ]; then printf '%s\n' "$@"; exit 0; fi

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
  echo "dlbench: this is not Debian or Ubuntu; install the counterparts of: $*" >&2
  exit 1
fi
missing=$(missing_of "$@")
if [ "$mode" = missing ]; then [ -z "$missing" ] || printf '%s\n' "$missing"; exit 0; fi
[ -n "$missing" ] || exit 0
missing=$(printf '%s' "$missing" | paste -sd' ' -)

as_root=
if [ "$(id -u)" != 0 ]; then
  if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo -n env DEBIAN_FRONTEND=noninteractive"
  else
    echo "dlbench: packages are missing, and only an administrator can install them. Run:" >&2
    echo "  sudo apt-get update && sudo apt-get install --no-install-recommends -y $missing" >&2
    exit 1
  fi
fi
export DEBIAN_FRONTEND=noninteractive

# The lists are fetched only where apt knows no candidate for something that is missing, or where
# the first try fails (lists older than the mirror).
# shellcheck disable=SC2086
known() {
  for package in $missing; do
    apt-cache policy "$package" 2>/dev/null | grep -q 'Candidate: [^(]' || return 1
  done
}
# shellcheck disable=SC2086
install() {
  $as_root apt-get install -y -q --no-install-recommends -o Dpkg::Use-Pty=0 \
    -o DPkg::Lock::Timeout=300 $missing
}
# shellcheck disable=SC2086
update() { $as_root apt-get update -q; }

echo "Installing with apt-get: $missing"
if ! known; then
  retry update || { echo "dlbench: 'apt-get update' failed; see above" >&2; exit 1; }
fi
install || { retry update && retry install; } || {
  echo "dlbench: these packages could not be installed: $missing" >&2
  echo "dlbench: on a distribution other than Debian 12 or 13 some may have other names" >&2
  exit 1
}
