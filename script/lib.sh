# shellcheck shell=bash
# Sourced by the other scripts: strict mode, the root of the repository as working directory, and what they share.
set -euo pipefail
started_in=$PWD
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." >/dev/null
preset=${BANKWISE_PRESET:-default}
build=build/$preset

say() { printf '%s\n' "$*" >&2; }

# give_up CODE SENTENCE
give_up() {
  say "$2"
  exit "$1"
}

# usage SCRIPT: the comment at its head.
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$1"; }

# logged LOG COMMAND...: its output goes to the log; if it fails, the log's end goes to stderr.
logged() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 </dev/null && return
  tail -n 30 "$log" >&2
  return 1
}

# step MESSAGE LOG COMMAND...: logged, and the message appears once a person would wonder what takes so long.
step() {
  local message=$1 log=$2 notice status=0
  shift 2
  { sleep 0.5 >/dev/null 2>&1 && say "$message"; } &
  notice=$!
  logged "$log" "$@" || status=3
  kill "$notice" 2>/dev/null || true
  wait "$notice" 2>/dev/null || true
  ((status == 0)) || give_up 3 "$message failed: the end of $log is above"
}

# Again if something was installed since: CMake has then more to find.
configure() {
  script/setup
  [[ $build/build.ninja -nt build/install.log ]] ||
    step "configuring" "$build/configure.log" cmake --preset "$preset"
}

# build [TARGET...]
build() {
  step "building (the first time takes a minute or two)" "$build/build.log" \
    cmake --build "$build" ${1+--target "$@"}
}
