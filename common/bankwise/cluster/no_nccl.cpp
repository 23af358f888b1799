// SPDX-License-Identifier: MIT
#include <bankwise/cluster/engine.hpp>
#include <bankwise/gpu/error.hpp>

namespace bankwise::cluster {

void require_nccl() {
  throw gpu::Unsupported("this build has no NCCL (NVIDIA: libnccl-dev)");
}

std::unique_ptr<Engine> open_nccl(gpu::Session&, Communicator&) {
  require_nccl();
  return nullptr;
}

}  // namespace bankwise::cluster
