#!/usr/bin/env bash
# The steps of action.yml.
#   packaging/action.sh install CHECKER   builds what the checker needs, unless bankcheck is installed
#   packaging/action.sh check             runs it; inputs are in the environment, and outputs go to $GITHUB_OUTPUT
# The exit code of bankcheck is an output, so that the uploads happen before the last step fails.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
prefix=${RUNNER_TEMP:-/tmp}/bankwise

install() {
  local target=bankcheck_$1 cuda=OFF packages=(cmake g++ libcli11-dev libfmt-dev ninja-build nlohmann-json3-dev)
  case $1 in
    emulate) packages+=(libboost-context-dev libcapstone-dev) ;;
    opencl) packages+=(liboclgrind-dev ocl-icd-opencl-dev oclgrind opencl-headers) ;;
    cuda) target=bankcheck cuda=ON ;;
    *) echo "::error::checker: $1 is none of emulate, opencl, cuda" && exit 2 ;;
  esac
  command -v bankcheck >/dev/null && return
  local as_root=()
  ((EUID == 0)) || as_root=(sudo)
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${packages[@]}"
  cmake -S "$root" -B "$prefix" -G Ninja -D BANKWISE_TESTS=OFF -D BANKWISE_CUDA=$cuda -D CMAKE_UNITY_BUILD=ON \
    -D CMAKE_UNITY_BUILD_BATCH_SIZE=0
  cmake --build "$prefix" --target "$target"
  echo "$prefix" >>"${GITHUB_PATH:-/dev/null}"
}

check() {
  local words=() options=() sarif=$PWD/bank_conflicts.sarif page=$PWD/bank_conflicts.html code=0
  mapfile -t words < <(xargs printf '%s\n' <<<"$ARGUMENTS")  # split and quoted as in a shell, without its expansions
  [[ -z $ARCH ]] || options+=(--arch "$ARCH")
  [[ -z $MAX_CONFLICTS ]] || options+=(--max-conflicts "$MAX_CONFLICTS")
  [[ -z $BASELINE ]] || options+=(--baseline "$BASELINE")
  [[ -z $HTML ]] || options+=(--html "$page")
  rm -f "$sarif" "$page"
  bankcheck "$CHECKER" --sarif "$sarif" "${options[@]}" "${words[@]}" || code=$?
  {
    echo "exit-code=$code"
    [[ ! -s $sarif ]] || echo "sarif=$sarif"
    [[ ! -s $page ]] || echo "page=$page"
  } >>"$GITHUB_OUTPUT"
}

"$@"
