#!/bin/bash
# bare_root.sh FOLDER [COMMAND...]: runs a clone of this checkout in a bare Debian 12 root.
#
# Makes FOLDER/root (Debian's minimal packages, nothing else) once, from the apt sources that this
# machine is configured with; --fresh makes it anew. This machine's pip configuration, and the local
# folders that it names, are bound in read-only, so that the PyTorch wheel is the one pip would take
# here. Without COMMAND it runs ./quickstart.sh twice and ./test.sh, and prints how long each took.
# Needs root, mmdebstrap and bubblewrap. DLBENCH_SUITE names another suite (trixie).
set -euo pipefail

fresh=no
if [ "${1-}" = --fresh ]; then fresh=yes; shift; fi
if [ $# -lt 1 ]; then
  echo "usage: $0 [--fresh] FOLDER [COMMAND...]" >&2
  exit 2
fi
if [ "$(id -u)" != 0 ]; then echo "bare_root.sh: run it as root" >&2; exit 1; fi
for tool in mmdebstrap bwrap git; do
  command -v "$tool" >/dev/null || { echo "bare_root.sh: '$tool' is missing" >&2; exit 1; }
done
suite=${DLBENCH_SUITE:-bookworm}
checkout=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd); shift
root=$folder/root

# The apt sources of this machine, with its own suite name replaced by the wanted one.
sources() {
  local own
  own=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
    if [ ! -f "$file" ] || ! grep -qE "^(Suites:|deb ).*$own" "$file"; then continue; fi
    local copy=$folder/sources.${file##*.}
    sed "s/\b$own/$suite/g" "$file" > "$copy"
    echo "$copy"
  done
}

# Local folders that pip's configuration and variables name (find-links, file: indexes, constraints),
# and its configuration files. Not the certificates: ca-certificates replaces them inside.
pip_paths() {
  {
    env | sed -n 's/^PIP_[A-Z_]*=//p'
    for file in /etc/pip.conf /etc/xdg/pip/pip.conf "$HOME"/{.config/pip,.pip}/pip.conf; do
      if [ -f "$file" ]; then echo "$file"; sed -n 's/^[a-z-]* *= *//p' "$file"; fi
    done
  } | tr ' ' '\n' | sed 's#^file://##' | grep '^/' | grep -v '^/etc/ssl/' | sort -u | while read -r path; do
    # A local index names files beside itself: its whole folder comes along.
    case $path in */simple) path=${path%/simple} ;; esac
    if [ -e "$path" ]; then echo "$path"; fi
  done
}

if [ "$fresh" = yes ]; then rm -rf "$root"; fi
if [ ! -e "$root/etc/debian_version" ]; then
  mapfile -t lists < <(sources)
  echo "bare_root.sh: making a bare $suite root in $root"
  options=()
  while read -r line; do options+=("--aptopt=$line"); done \
    < <(apt-config dump | grep -E '^Acquire::(Check-[A-Za-z-]*|[a-z]*::Proxy|Retries) ' || true)
  rm -rf "$root.partial"
  mmdebstrap --quiet --variant=minbase "${options[@]}" "$suite" "$root.partial" "${lists[@]}"
  mv "$root.partial" "$root"
fi

# A fresh clone of the last commit; what an earlier call built there stays.
clone=$root/srv/dlbench
if [ -d "$clone/.git" ]; then
  git -C "$clone" fetch -q origin HEAD
  git -C "$clone" reset -q --hard FETCH_HEAD
else
  git clone -q --no-hardlinks "$checkout" "$clone"
fi

binds=()
certificates=${PIP_CERT-}
if [ -f "$certificates" ]; then cp "$certificates" "$root/srv/certificates.crt"; else certificates=; fi
while read -r path; do binds+=(--ro-bind "$path" "$path"); done < <(pip_paths)
if [ ${#binds[@]} -gt 0 ]; then
  echo "bare_root.sh: $((${#binds[@]} / 3)) paths of this machine's pip configuration are bound in"
fi
inside() {
  bwrap --bind "$root" / --dev-bind /dev /dev --proc /proc --ro-bind /sys /sys \
    --ro-bind /etc/resolv.conf /etc/resolv.conf "${binds[@]}" --unshare-pid --die-with-parent \
    --cap-add ALL --clearenv --setenv HOME /root --setenv LANG C.UTF-8 \
    --setenv PATH /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    $(env | sed -n '/^PIP_CERT=/d; s/^\(PIP_[A-Z_]*\)=\([^ ]*\)$/--setenv \1 \2/p') \
    ${certificates:+--setenv PIP_CERT /srv/certificates.crt} \
    --chdir /srv/dlbench "$@"
}

timed() {
  local start=$SECONDS status=0
  inside "$@" || status=$?
  times+=("$(printf '%5d s  status %d  %s' $((SECONDS - start)) "$status" "$*")")
  if [ "$status" != 0 ]; then failed=1; fi
}
times=()
failed=0
if [ $# -gt 0 ]; then
  timed "$@"
else
  timed ./quickstart.sh
  timed ./quickstart.sh
  timed ./test.sh
fi
printf '%s\n' "bare_root.sh: $suite, $(nproc) processing units" "${times[@]}"
exit "$failed"
