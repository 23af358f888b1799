// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include <bankwise/cluster/communicator.hpp>
#include <bankwise/gpu/session.hpp>

namespace bankwise::cluster {

/// One buffer of each rank, which kernels and copies of all other ranks can access directly (peer memory).
class Peers {
 public:
  virtual ~Peers() = default;
  /// The addresses of the buffers by rank, 8 bytes each, in device memory: an argument for kernels.
  virtual gpu::Buffer& table() = 0;
  /// Enqueues a copy into the beginning of a rank's buffer.
  virtual void copy(const gpu::Buffer& from, unsigned rank, std::uint64_t bytes) = 0;
};

/// Collective: every rank offers a buffer, which must outlive the result on every rank. The destructor is collective,
/// too, unless an exception is in flight. Error: Refused, if the session is not CUDA's, the ranks are on several
/// nodes, or one GPU cannot access another one's memory.
std::unique_ptr<Peers> share_with_peers(gpu::Session& session, Communicator& communicator, gpu::Buffer& buffer);

}  // namespace bankwise::cluster
