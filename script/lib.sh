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

# follow MESSAGE LOG: says the message once a person would wonder what takes so long; N in it is how many files Ninja
# builds. On a terminal the last of them stands below, [123/372] and its name, rewritten in place.
follow() {
  local message=$1 log=$2 said="" latest total width
  width=$(stty size <&2 2>/dev/null | cut -d' ' -f2) || width=0
  ((width > 0)) || width=80
  sleep 0.5 >/dev/null 2>&1
  while kill -0 $$ 2>/dev/null; do
    latest=$(tail -n 20 "$log" 2>/dev/null | sed -n '/^\[[0-9]*\/[0-9]*\]/{/\] Re-/!h}; ${x;p}') || true
    if [[ -z $said && ($message != *N* || -n $latest) ]]; then
      total=${latest%%]*}
      say "${message/N/${total#*/}}"
      said=1
    fi
    [[ -t 2 || -z $said ]] || return 0
    [[ ! -t 2 || -z $latest ]] || printf '\r\e[K%s' "${latest:0:width-1}" >&2
    sleep 0.2 >/dev/null 2>&1
  done
}

# step MESSAGE LOG COMMAND...: logged, and followed.
step() {
  local message=$1 log=$2 notice status=0
  shift 2
  follow "$message" "$log" &
  notice=$!
  logged "$log" "$@" || status=3
  kill "$notice" 2>/dev/null || true
  wait "$notice" 2>/dev/null || true
  [[ ! -t 2 ]] || printf '\r\e[K' >&2
  ((status == 0)) || give_up 3 "${message/ N / } failed: the end of $log is above"
}

# case_studies: the names of all programs that measure.
case_studies() { sed -n 's/^\([^# ][^ ]*\) .*/\1/p' cmake/case_studies.txt; }

# Again if something was installed since: CMake has then more to find.
configure() {
  script/setup
  [[ $build/build.ninja -nt build/install.log ]] ||
    step "configuring" "$build/configure.log" cmake --preset "$preset"
}

# build [TARGET...]
build() {
  step "building N files" "$build/build.log" \
    cmake --build "$build" ${1+--target "$@"}
}
