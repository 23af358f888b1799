// SPDX-License-Identifier: MIT
#include <bankwise/cluster/peers.hpp>
#include <bankwise/gpu/error.hpp>

namespace bankwise::cluster {

std::unique_ptr<Peers> share_with_peers(gpu::Session&, Communicator&, gpu::Buffer&) {
  throw gpu::Unsupported("only CUDA devices access each other's memory, and this build has no CUDA");
}

}  // namespace bankwise::cluster
