#!/bin/sh
# gemm_symbols.sh NM OBJECT...: fails if an object of the matrix product defines a symbol that could
# replace one of another object: anything weak or global but what lives in its own namespace.
set -eu
nm=$1; shift
status=0
for object in "$@"; do
  shared=$("$nm" --defined-only "$object" | awk '$2 ~ /[A-Zuvw]/ && $2 !~ /[Nn]/ {print $3}' |
    grep -vE 'dlbench_eigen_|kGemmKernels_|^DW\.ref\.' || true)
  if [ -n "$shared" ]; then
    echo "$object defines symbols that another object may share:" >&2
    echo "$shared" | c++filt >&2
    status=1
  fi
done
exit $status
