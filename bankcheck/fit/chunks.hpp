// SPDX-License-Identifier: MIT
//
// Lane groups while they are collected, and in the form that is fast to evaluate: eight of them side by side, one in
// each element of a vector.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "bankcheck/fit/change.hpp"

namespace bankwise::fit {

/// Lane groups whose passes depend on the layout. Those with the same blocks in the same slots are one.
struct GroupTable {
  struct LaneGroup {
    std::size_t begin = 0;
    unsigned blocks = 0, shift = 2, slots = 32;
    std::uint32_t bound = 1, now = 1;  // fewest passes, and those of the identity
  };
  std::size_t architectures = 1;
  std::vector<std::uint32_t> pool;  // the sorted blocks of all lane groups
  std::vector<LaneGroup> groups;
  std::vector<std::uint64_t> weights;                                   // by lane group and architecture
  std::vector<std::uint32_t> table = std::vector<std::uint32_t>(1024);  // 1 + index of a lane group
  std::map<std::uint32_t, std::uint64_t> strides;                       // by distance: how many passes it costs

  /// The index of the lane group with these blocks.
  std::size_t find_or_add(const std::vector<std::uint32_t>& blocks, unsigned shift, unsigned slots);

 private:
  bool same(const LaneGroup& group, const std::vector<std::uint32_t>& blocks, unsigned shift, unsigned slots) const;
  void grow();
};

inline constexpr unsigned chunk_width = 8;
/// Offsets in chunks are smaller, so that dividing them as floats is exact.
inline constexpr std::uint64_t max_chunk_offset = std::uint64_t{1} << 22;
inline constexpr unsigned max_chunk_blocks = 255, max_chunk_slots = 32;

/// Eight lane groups of `blocks` blocks each. A block has 2^shift bytes and lies in one of `slots` equal parts of the
/// banks, a power of two. Block b of lane group g begins at byte offsets[8 * b + g] of its array.
struct Chunk {
  unsigned blocks = 0, shift = 2, slots = 32;
  const std::int32_t* offsets = nullptr;
};

/// For each lane group the most blocks in one slot.
using ChunkCost = std::array<std::uint32_t, chunk_width>;

/// Where the change moves the blocks of `count` chunks, as the number of blocks in the fullest slot.
void chunk_costs(const Change& change, const Chunk* chunks, std::size_t count, ChunkCost* costs);

}  // namespace bankwise::fit
