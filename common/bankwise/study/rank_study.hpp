// SPDX-License-Identifier: MIT
//
// A case study whose data several processes hold together, one device each. MPI numbers the processes: rank 0, rank 1
// and so on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>

#include <bankwise/study/case_study.hpp>

namespace bankwise::study {

/// One of the processes.
struct Rank {
  unsigned index = 0, ranks = 1;
};

/// Each rank holds consecutive items; the first n % ranks ranks hold one more than the others. Returns the first
/// item of a rank; for rank == ranks, n.
constexpr std::uint64_t first_item(std::uint64_t n, unsigned rank, unsigned ranks) {
  return n / ranks * rank + std::min<std::uint64_t>(rank, n % ranks);
}
constexpr std::uint64_t items(std::uint64_t n, unsigned rank, unsigned ranks) {
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

/// The expected words of a buffer, for example of a rank's share of the output: writes the words [first, first +
/// words.size()). Called in ascending order, from 0, without gaps.
using Expected = std::function<void(std::uint64_t first, std::span<std::uint32_t> words)>;

/// What a case study of one input and one output adds for several ranks. Each function is given the whole problem's
/// extent.
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
  Plan (*plan)(const Variant&, Extent, Rank, unsigned units) = nullptr;

  /// The expected output may depend on the sums of all inputs: of the words i, i + sums, i + 2 * sums, ... of each
  /// rank's share. 0: it does not.
  std::size_t sums = 0;
  /// `before`: the sums over all lower ranks; `all_sums`: over all ranks; both as if the words were divided as for the
  /// first variant. The result may use `threads` threads.
  Expected (*expected)(const CaseStudy&, const Variant&, Extent, Rank, const Words& before, const Words& all_sums,
                       unsigned threads) = nullptr;
};

}  // namespace bankwise::study
