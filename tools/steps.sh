# Sourced by quickstart.sh, test.sh and .ci/run: steps with a heading, their time, and a log file.
# The caller sets `steps_name` (names the logs) and is in the root of the checkout.

steps_start=$SECONDS
step_times=()
mkdir -p build

# say TEXT...: a line with the time since the script began.
say() {
  local elapsed=$((SECONDS - steps_start))
  printf '[%d:%02d] %s\n' $((elapsed / 60)) $((elapsed % 60)) "$*"
}

# step NAME HEADING COMMAND...: runs the command with its output in build/<steps_name>-NAME.log. On
# failure it shows the end of that log and returns the command's status.
step() {
  local log=build/$steps_name-$1.log heading=$2 begun=$SECONDS status=0
  shift 2
  say "$heading"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  step_times+=("$(printf '%5d s  %s' $((SECONDS - begun)) "$heading")")
  if [ "$status" -ne 0 ]; then
    say "FAILED (status $status): $*"
    echo "---- the end of $log"
    tail -n 40 "$log"
    echo "----"
  fi
  return "$status"
}

# shown NAME HEADING COMMAND...: as step, but the output is shown too.
shown() {
  local log=build/$steps_name-$1.log heading=$2 begun=$SECONDS status=0
  shift 2
  say "$heading"
  "$@" 2>&1 </dev/null | tee "$log" || status=$?
  step_times+=("$(printf '%5d s  %s' $((SECONDS - begun)) "$heading")")
  if [ "$status" -ne 0 ]; then say "FAILED (status $status): $* (log: $log)"; fi
  return "$status"
}

# build_jobs: compilers at a time, one for each 1.5 GB of memory at most: a file with Eigen takes that.
build_jobs() {
  local memory
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1500000) }' /proc/meminfo)
  local jobs
  jobs=$(nproc)
  if [ "${memory:-1}" -lt "$jobs" ]; then jobs=${memory:-1}; fi
  if [ "$jobs" -lt 1 ]; then jobs=1; fi
  echo "$jobs"
}

# use_ccache: lets CMake compile through ccache where it is installed.
use_ccache() {
  if [ -z "${CMAKE_CXX_COMPILER_LAUNCHER-}" ] && command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
}

# install_framework DLBENCH NAME LOG ASK: makes an environment unless it is there. Status 0 ready, 1
# failed, 3 the download is large and nobody agreed to it (ASK: yes agrees, no declines, ask asks).
install_framework() {
  local program=$1 name=$2 log=$3 ask=$4 answer
  if "$program" frameworks install "$name" >"$log" 2>&1 </dev/null; then return 0; fi
  if ! grep -q -e ' --yes' "$log"; then return 1; fi
  if [ "$ask" = ask ] && [ -t 0 ]; then
    tail -n 1 "$log"
    read -r -p "Go on? [y/N] " answer
    case $answer in [yY]*) ask=yes ;; esac
  fi
  if [ "$ask" != yes ]; then return 3; fi
  "$program" frameworks install "$name" --yes >"$log" 2>&1 </dev/null
}
