#!/usr/bin/env bash
# packaging/github.sh OWNER/NAME: fills in OWNER wherever these files name their repository, and sets its description,
# home page and topics on GitHub, in the words that people search for. Needs gh, and the rights of an owner.
set -euo pipefail
repository=${1:?usage: packaging/github.sh OWNER/NAME}
owner=${repository%%/*} name=${repository##*/}
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
grep -rlZ --exclude-dir={.git,build} 'OWNER/\(homebrew-\)\?bankwise' . |
  xargs -0r sed -i "s,OWNER/\(\(homebrew-\)\?bankwise\),$owner/\1,g"
topics=(gpu cuda hip opencl rocm triton cute cutlass shared-memory bank-conflicts lds swizzle nsight-compute
  performance-analysis gpu-programming static-analysis profiling race-detection)
gh repo edit "$repository" --homepage "https://$owner.github.io/$name/" \
  --description 'Find shared-memory bank conflicts of CUDA, HIP and OpenCL without a GPU, fix them, and prove the fix' \
  "${topics[@]/#/--add-topic=}"
