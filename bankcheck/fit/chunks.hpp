// SPDX-License-Identifier: MIT
//
// Lane groups in the form that is fast to evaluate: eight of them side by side, one in each element of a vector.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "bankcheck/fit/change.hpp"

namespace bankwise::fit {

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
