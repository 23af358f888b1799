// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <string>

#include <bankwise/cluster/communicator.hpp>
#include <bankwise/cluster/exchange.hpp>
#include <bankwise/gpu/session.hpp>

namespace bankwise::cluster {

/// Exchanges the contents of device buffers between ranks. Counts are in words of 32 bits. Every function is
/// collective. Error of every function: gpu::Error.
class Engine {
 public:
  virtual ~Engine() = default;
  /// "NCCL 2.28.3"
  virtual std::string name() const = 0;
  /// Whether the exchanges are enqueued like launches, so the device's timer measures them. Otherwise they wait for the
  /// device, and only the host's clock measures them.
  virtual bool on_device() const = 0;

  /// Replaces `count` words by the sums over all ranks, modulo 2^32.
  virtual void all_reduce(gpu::Buffer& words, std::uint64_t count) = 0;
  /// to[rank * count ..] = from[0 .. count) of each rank.
  virtual void all_gather(const gpu::Buffer& from, gpu::Buffer& to, std::uint64_t count) = 0;
  /// One piece to each rank, and one from each. `overlapped`: what is enqueued later may run at the same time, up
  /// to join().
  virtual void all_to_all(const gpu::Buffer& from, std::span<const Piece> send, gpu::Buffer& to,
                          std::span<const Piece> receive, bool overlapped) = 0;
  /// What is enqueued later waits for the earliest overlapped exchange that no join() has waited for.
  virtual void join() = 0;
};

/// Loads NCCL. Error: gpu::Unsupported if this build has no NCCL or libnccl.so.2 is not found.
void require_nccl();

/// NCCL, for CUDA devices; require_nccl() must have succeeded on all ranks.
std::unique_ptr<Engine> open_nccl(gpu::Session& session, Communicator& communicator);

/// MPI through host memory, for any device.
std::unique_ptr<Engine> open_host_engine(gpu::Session& session, Communicator& communicator);

}  // namespace bankwise::cluster
