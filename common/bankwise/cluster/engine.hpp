#pragma once

#include <memory>
#include <span>
#include <string>

#include <bankwise/cluster/communicator.hpp>
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
  /// One piece to each rank, and one from each. `overlapped`: what follows may run at the same time, up to join().
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
