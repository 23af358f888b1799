// SPDX-License-Identifier: MIT
//
// A case study whose data several processes hold together, one device each. MPI numbers the processes: rank 0, rank 1
// and so on.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include <bankwise/cluster/exchange.hpp>
#include <bankwise/study/case_study.hpp>

namespace bankwise {

/// One of the processes.
struct Rank {
  unsigned index = 0, ranks = 1;
};

/// Each rank holds consecutive items; the first n % ranks ranks hold one more than the others. Returns the first item
/// of a rank; for rank == ranks, n.
std::uint64_t first_item(std::uint64_t n, unsigned rank, unsigned ranks);
inline std::uint64_t items(std::uint64_t n, unsigned rank, unsigned ranks) {
  return first_item(n, rank + 1, ranks) - first_item(n, rank, ranks);
}

/// What a rank holds: consecutive words of the whole input and of the whole output; or, of both, blocks of `block`
/// words, one in every `stride` words (block-cyclic).
struct Share {
  std::uint64_t input_first = 0, input_words = 0, output_first = 0, output_words = 0;
  std::uint64_t block = 0, stride = 0;  ///< in words; 0: consecutive

  bool operator==(const Share&) const = default;
};

/// The index in the whole input, or output, of word i of a share that begins at `first`.
constexpr std::uint64_t whole_index(const Share& share, std::uint64_t first, std::uint64_t i) {
  return share.block == 0 ? first + i : first + i / share.block * share.stride + i % share.block;
}

/// In a launch: the addresses of one buffer of each rank, by rank (cluster/peers.hpp).
struct PeerTable {
  Slot slot;
};

/// A launch on every rank, as Launch.
struct RankLaunch {
  std::string kernel;
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

using Step = std::variant<RankLaunch, AllReduce, AllGather, AllToAll, Join>;

constexpr bool is_exchange(const Step& step) {
  return !std::holds_alternative<RankLaunch>(step);
}

/// What every rank does, in order, for the whole job. Launches of zero groups are left out. Exchanges must match: every
/// rank makes the same ones in the same order.
struct RankPlan {
  std::vector<std::uint64_t> scratch_bytes;
  std::uint64_t state_bytes = 0;  ///< memory that is zero before the first run; each run leaves it ready for the next
  std::vector<Step> steps;
};

/// A plan that only launches, as the beginning of a plan with exchanges.
RankPlan with_ranks(const Plan& plan);

/// The expected output of a rank: writes the words [first, first + words.size()) of its share. Called in ascending
/// order, from 0, without gaps.
using Expected = std::function<void(std::uint64_t first, std::span<std::uint32_t> words)>;

/// What a case study adds for several ranks. Each function is given the whole problem's extent.
struct RankStudy {
  std::span<const Variant> variants;        ///< VariantTraits::library: unused
  const gpu::KernelSet* kernels = nullptr;  ///< those of the case study itself may also be launched
  /// The case study's variants that a single device with a rank's share would run, the reference for weak scaling: the
  /// first that the device supports.
  std::span<const std::string_view> alone;

  /// Variants may divide the words in different ways. The first one's way is that of `alone` and of reports.
  Share (*share)(const Variant&, Extent, Rank) = nullptr;
  /// A rank's input as a separate problem, for `alone`.
  Extent (*alone_extent)(Extent, Rank) = nullptr;
  /// Bytes that a rank's device must read from and write to its memory, and bytes that leave the rank.
  std::uint64_t (*memory_bytes)(const Variant&, Extent, Rank) = nullptr;
  std::uint64_t (*link_bytes)(Extent, Rank) = nullptr;
  RankPlan (*plan)(const Variant&, Extent, Rank, unsigned units) = nullptr;

  /// The expected output may depend on the sums of all inputs: of the words i, i + sums, i + 2 * sums, ... of each
  /// rank's share. 0: it does not.
  std::size_t sums = 0;
  /// `before`: the sums over all lower ranks; `all`: those over all ranks; both as if the words were divided as for the
  /// first variant. The result may use `threads` threads.
  Expected (*expected)(const CaseStudy&, const Variant&, Extent, Rank, const Words& before, const Words& all,
                       unsigned threads) = nullptr;
};

/// The image called `name`, of either set; null if there is none.
const gpu::KernelImage* find_rank_image(const CaseStudy& study, std::string_view name);

}  // namespace bankwise
