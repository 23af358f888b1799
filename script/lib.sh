# shellcheck shell=bash
# Sourced by the other scripts: sets strict mode, changes to the root of the repository, and defines shared functions.
set -euo pipefail
# shellcheck disable=SC2034  # the scripts that source this file use it
started_in=$PWD
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." >/dev/null
preset=${BANKWISE_PRESET:-default}
build=build/$preset

say() { printf '%s\n' "$*" >&2; }

# give_up CODE MESSAGE: prints the message to stderr and exits.
give_up() { say "$2" && exit "$1"; }

# usage SCRIPT: prints the comment at the head of the script.
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$1"; }

# logged LOG COMMAND...: runs the command with its output in the log; if it fails, prints the end of the log to stderr.
logged() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 </dev/null && return
  tail -n 30 "$log" >&2
  return 1
}

# follow MESSAGE LOG: prints the message if the step takes longer than half a second; N in it is replaced by the number
# of files that Ninja builds. On a terminal, a progress line below shows the current file, as in [123/372], updated in
# place.
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

# step MESSAGE LOG COMMAND...: logged() with the progress of follow().
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

# case_studies [LIST...]: prints the names of the case studies in the lists, by default of those that are installed.
case_studies() { sed -n 's,^\([^#]*/\)*\([^#/][^/]*\)$,\2,p' "${@:-cmake/case_studies.txt}"; }

# configure: installs missing packages and runs CMake, again if packages were installed since the last run.
configure() {
  script/setup
  [[ $build/build.ninja -nt build/install.log ]] || step "configuring" "$build/configure.log" cmake --preset "$preset"
}

# build [TARGET...]: builds the targets, by default all.
build() { step "building N files" "$build/build.log" cmake --build "$build" ${1+--target "$@"}; }
