// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/injection/block_sample.hpp"

#include <algorithm>
#include <utility>

#include "bankcheck/cuda/injection/device_table.hpp"

namespace bankwise::cuda {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t PERIOD = std::uint64_t(1) << 32;  // of a block's number, which is 32 bits in the patch

/// The sum of floor((factor * i + offset) / divisor) for i from 0 to terms - 1: Euclid's algorithm on the area under
/// the line.
Wide sum_of_floors(Wide terms, Wide divisor, Wide factor, Wide offset) {
  Wide sum = 0;
  while (terms > 0) {
    sum += (terms - 1) * terms / 2 * (factor / divisor) + terms * (offset / divisor);
    factor %= divisor;
    offset %= divisor;
    const Wide top = factor * terms + offset;
    if (top < divisor) break;
    terms = top / divisor;
    offset = top % divisor;
    std::swap(divisor, factor);
  }
  return sum;
}

}  // namespace

std::uint64_t count_watched_blocks(std::uint64_t blocks, std::uint32_t threshold) {
  if (threshold == ALL_BLOCKS) return blocks;
  // The multiplier is odd, so each period contains every product once.
  const std::uint64_t whole = blocks / PERIOD * threshold, rest = blocks % PERIOD;
  // x mod m < t exactly if floor((x + m) / m) - floor((x + m - t) / m) is 1.
  const Wide below = sum_of_floors(rest, PERIOD, BLOCK_MULTIPLIER, PERIOD) -
                     sum_of_floors(rest, PERIOD, BLOCK_MULTIPLIER, PERIOD - threshold);
  return whole + std::uint64_t(below);
}

BlockSample sample_blocks(std::uint64_t blocks, std::uint64_t max_blocks) {
  if (max_blocks == 0 || blocks <= max_blocks) return {.threshold = ALL_BLOCKS, .blocks = blocks};
  // Block 0 has product 0, so a threshold of 1 watches at least that one.
  auto threshold = std::uint32_t(std::clamp<Wide>(Wide(max_blocks) * PERIOD / blocks, 1, ALL_BLOCKS - 1));
  std::uint64_t watched = count_watched_blocks(blocks, threshold);
  while (watched > max_blocks && threshold > 1) {
    threshold = std::uint32_t(std::max<std::uint64_t>(std::uint64_t(threshold) * max_blocks / watched, 1));
    watched = count_watched_blocks(blocks, threshold);
  }
  return {.threshold = threshold, .blocks = watched};
}

}  // namespace bankwise::cuda
