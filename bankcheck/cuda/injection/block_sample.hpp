// SPDX-License-Identifier: MIT
//
// Which blocks of a large launch are watched.
#pragma once

#include <cstdint>

namespace bankwise::cuda {

struct BlockSample {
  std::uint32_t threshold = 0;  ///< LaunchSlot::threshold
  std::uint64_t blocks = 0;     ///< that it watches
};

/// A sample of at most `max_blocks` (0: all) of a grid of `blocks`, spread evenly over the grid; at least one block of
/// a grid that has any. `blocks` is at most 2^63.
BlockSample sample_blocks(std::uint64_t blocks, std::uint64_t max_blocks);

/// How many of the numbers 0 to `blocks` - 1 is_watched_block() accepts for `threshold`; exact, in logarithmic time.
std::uint64_t count_watched_blocks(std::uint64_t blocks, std::uint32_t threshold);

}  // namespace bankwise::cuda
