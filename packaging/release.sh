#!/usr/bin/env bash
# What .github/workflows/release.yml runs, and what can be tried by hand; see docs/releasing.md.
#   packaging/release.sh cuda                  PyPI's nvcc as /usr/local/cuda; on the PATH, packages have bankcheck cuda
#   packaging/release.sh packages DIR SYSTEM   builds the Debian package and the tarball of SYSTEM, such as debian12
#   packaging/release.sh source DIR            the source tarball of the commit
#   packaging/release.sh explorer DIR          the page that script/explorer --build has built
#   packaging/release.sh notes DIR TAG         SHA256SUMS of DIR, and notes.md: the changelog of the version. Fails if
#                                              the tag is not the version of CMakeLists.txt
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
version=$(sed -n 's/^project(bankwise VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)

cuda() {
  local toolkit link
  python3 -m venv /opt/cuda
  /opt/cuda/bin/pip install nvidia-cuda-sanitizer-api nvidia-cuda-{nvcc,crt,runtime,cccl,cupti}==13.0.* nvidia-nvvm==13.0.*
  toolkit=$(echo /opt/cuda/lib/python3*/site-packages/nvidia/cu13)
  for link in lib64:lib lib/libcudart.so:libcudart.so.13 lib/libcupti.so:libcupti.so.13; do  # names that CMake looks for
    [[ -e $toolkit/${link%:*} ]] || ln -s "${link#*:}" "$toolkit/${link%:*}"
  done
  ln -sT "$toolkit" /usr/local/cuda
  echo /usr/local/cuda/bin >>"${GITHUB_PATH:-/dev/null}"
}

packages() {
  local build=build/release file as_root=()
  ((EUID == 0)) || as_root=(sudo)
  script/setup
  type dpkg-shlibdeps file &>/dev/null ||  # with which CPack finds the libraries that the Debian package depends on
    "${as_root[@]}" apt-get install -y --no-install-recommends dpkg-dev file
  cmake --preset default -B "$build" -D BANKWISE_TESTS=OFF -D BANKWISE_MPI=OFF -D BANKWISE_CUDA_STUDIES=OFF
  cmake --build "$build"
  mkdir -p "$1"
  (cd "$build" && cpack -B packages)
  for file in "$build"/packages/*.deb; do mv "$file" "$1/$(basename "${file%.deb}")-$2.deb"; done
  for file in "$build"/packages/*.tar.gz; do mv "$file" "$1/$(basename "${file%.tar.gz}")-$2.tar.gz"; done
}

source_tarball() {  # bankwise-$version.tar.gz is the wheel's sdist
  mkdir -p "$1"
  git archive --prefix "bankwise-$version/" -o "$1/bankwise-$version-source.tar.gz" HEAD
}

explorer() {
  mkdir -p "$1"
  cp build/opencl/explorer/index.html "$1/bankwise-explorer-$version.html"
}

notes() {
  [[ $2 == "v$version" ]] || { echo "the tag is $2, and the version in CMakeLists.txt $version" >&2 && exit 1; }
  local files=${GITHUB_SERVER_URL:-https://github.com}/${GITHUB_REPOSITORY:-OWNER/bankwise}/blob/$2
  (cd "$1" && rm -f SHA256SUMS && sha256sum -- * >../SHA256SUMS && mv ../SHA256SUMS .)
  awk -v version="$version" '/^## / {shown = index($0, "## " version) == 1; next} shown' CHANGELOG.md |
    sed "s|](\([a-z]\)|]($files/\1|g; s|]($files/\(https*:\)|](\1|g" >notes.md
  [[ -s notes.md ]]
}

case ${1:-} in
  cuda | packages | explorer | notes) "$@" ;;
  source) source_tarball "$2" ;;
  *) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
