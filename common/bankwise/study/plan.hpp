// What a device, or each of several ranks, does for a whole job: launches, and exchanges between the ranks.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <bankwise/cluster/communicator.hpp>
#include <bankwise/gpu/kernel_image.hpp>

namespace bankwise::study {

using Words = std::vector<std::uint32_t>;

/// Memory that a launch uses: an input or output of the case study, a scratch buffer of the plan, or its state.
struct Slot {
  enum class Memory : unsigned char { input, output, scratch, state } memory;
  std::size_t index = 0;  ///< among the inputs, outputs or scratch buffers

  auto operator<=>(const Slot&) const = default;
};
inline constexpr Slot input_slot{Slot::Memory::input}, output_slot{Slot::Memory::output},
    state_slot{Slot::Memory::state};
constexpr Slot input_slot_at(std::size_t i) { return {Slot::Memory::input, i}; }
constexpr Slot output_slot_at(std::size_t i) { return {Slot::Memory::output, i}; }
constexpr Slot scratch_slot(std::size_t i) { return {Slot::Memory::scratch, i}; }

/// In a launch on several ranks: the addresses of one buffer of each rank, by rank (cluster/engine.hpp).
struct PeerTable {
  Slot slot;
};

/// One kernel launch: one-dimensional in groups, arguments in the kernel's order.
struct KernelLaunch {
  std::string kernel;  ///< name of the __global__ or __kernel function
  std::uint64_t groups;
  gpu::GroupShape group;
  std::vector<std::variant<Slot, PeerTable, std::uint64_t>> arguments;
};

/// The exchanges between all ranks. Counts in words; sums modulo 2^32.
struct AllReduce {
  Slot words;  ///< replaced by the sums over all ranks
  std::uint64_t count;
};
struct AllGather {
  Slot from, to;  ///< to[rank * count ..] = from[0 .. count) of that rank
  std::uint64_t count;
};
struct AllToAll {
  Slot from;
  std::vector<cluster::Piece> send;  ///< one piece to each rank
  Slot to;
  std::vector<cluster::Piece> receive;  ///< one piece from each rank
  bool overlapped = false;              ///< the following steps may run at the same time, up to a Join
};
/// What follows waits for the earliest overlapped exchange that no Join has waited for.
struct Join {};

using Step = std::variant<KernelLaunch, AllReduce, AllGather, AllToAll, Join>;

constexpr bool is_exchange(const Step& step) { return !std::holds_alternative<KernelLaunch>(step); }

/// What to do, in order, for a whole job. Both APIs execute the same plan. On one device there are no exchanges, and
/// the block scope repeats the shared-memory section of the first launch. On several ranks, exchanges must match: every
/// rank makes the same ones in the same order; launches of zero groups are left out.
struct Plan {
  std::vector<std::uint64_t> scratch_bytes;
  std::vector<Step> steps;
  std::uint64_t state_bytes = 0;  ///< memory that is zero before the first run; each run leaves it ready for the next

  /// The steps, for those who cannot exchange. Error: std::runtime_error if there is an exchange.
  std::vector<KernelLaunch> launches() const;
};

}  // namespace bankwise::study
