// SPDX-License-Identifier: MIT
#include <bankwise/banks/multiprocessor.hpp>

#include <algorithm>

namespace bankwise::banks {

std::uint32_t resident_blocks(const Multiprocessor& multiprocessor, std::uint64_t bytes, std::uint64_t threads) {
  const auto& [shared, per_block, reserved, unit, max_threads, max_blocks] = multiprocessor;
  if (bytes > per_block) return 0;
  const std::uint64_t taken = (bytes + reserved + unit - 1) / unit * unit;
  std::uint64_t blocks = shared / std::max<std::uint64_t>(taken, 1);
  if (max_blocks) blocks = std::min<std::uint64_t>(blocks, *max_blocks);
  if (max_threads && threads > 0) blocks = std::min(blocks, *max_threads / threads);
  return std::uint32_t(blocks);
}

std::uint64_t bytes_with_same_occupancy(const Multiprocessor& multiprocessor, std::uint64_t bytes,
                                        std::uint64_t threads) {
  const std::uint32_t blocks = resident_blocks(multiprocessor, bytes, threads);
  if (blocks == 0) return bytes;
  const std::uint64_t each = multiprocessor.shared / blocks / multiprocessor.unit * multiprocessor.unit;
  return std::clamp<std::uint64_t>(each - multiprocessor.reserved, bytes, multiprocessor.per_block);
}

}  // namespace bankwise::banks
