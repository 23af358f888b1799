// SPDX-License-Identifier: MIT
#include "bankcheck/fit/occupancy.hpp"

#include <algorithm>
#include <iterator>

namespace bankwise::fit {
namespace {

constexpr std::uint32_t KiB = 1024;

// CUDA C++ Programming Guide, technical specifications per compute capability; AMD's ISA manuals.
constexpr Multiprocessor table[]{
    {"sm_13", 16 * KiB, 16 * KiB, 0, 512, 1024, 8},      {"sm_20", 48 * KiB, 48 * KiB, 0, 128, 1536, 8},
    {"sm_30", 48 * KiB, 48 * KiB, 0, 256, 2048, 16},     {"sm_30_eight_byte", 48 * KiB, 48 * KiB, 0, 256, 2048, 16},
    {"sm_50", 64 * KiB, 48 * KiB, 0, 256, 2048, 32},     {"sm_60", 64 * KiB, 48 * KiB, 0, 256, 2048, 32},
    {"sm_70", 96 * KiB, 96 * KiB, 0, 256, 2048, 32},     {"sm_75", 64 * KiB, 64 * KiB, 0, 256, 1024, 16},
    {"sm_80", 164 * KiB, 163 * KiB, KiB, 128, 2048, 32}, {"sm_89", 100 * KiB, 99 * KiB, KiB, 128, 1536, 24},
    {"sm_90", 228 * KiB, 227 * KiB, KiB, 128, 2048, 32}, {"sm_100", 228 * KiB, 227 * KiB, KiB, 128, 2048, 32},
    {"sm_120", 100 * KiB, 99 * KiB, KiB, 128, 1536, 24}, {"gcn", 64 * KiB, 64 * KiB, 0, 512, 0, 0},
    {"gfx908", 64 * KiB, 64 * KiB, 0, 512, 0, 0},        {"gfx90a", 64 * KiB, 64 * KiB, 0, 512, 0, 0},
    {"gfx942", 64 * KiB, 64 * KiB, 0, 512, 0, 0},        {"gfx950", 160 * KiB, 160 * KiB, 0, 512, 0, 0},
};

std::uint64_t taken(const Multiprocessor& one, std::uint64_t bytes) {
  return (bytes + one.reserved + one.unit - 1) / one.unit * one.unit;
}

}  // namespace

const Multiprocessor* multiprocessor_of(const banks::Architecture& architecture) {
  const auto* found = std::find_if(std::begin(table), std::end(table),
                                   [&](const Multiprocessor& one) { return one.architecture == architecture.name; });
  return found == std::end(table) ? nullptr : found;
}

std::uint32_t resident_blocks(const Multiprocessor& one, std::uint64_t bytes, std::uint64_t threads) {
  std::uint64_t blocks = bytes > one.per_block ? 0 : one.shared / std::max<std::uint64_t>(taken(one, bytes), 1);
  if (one.blocks > 0) blocks = std::min<std::uint64_t>(blocks, one.blocks);
  if (one.threads > 0 && threads > 0) blocks = std::min(blocks, one.threads / threads);
  return std::uint32_t(blocks);
}

std::uint64_t bytes_with_same_occupancy(const Multiprocessor& one, std::uint64_t bytes, std::uint64_t threads) {
  const std::uint32_t blocks = resident_blocks(one, bytes, threads);
  if (blocks == 0) return bytes;
  const std::uint64_t each = one.shared / blocks / one.unit * one.unit;
  return std::clamp<std::uint64_t>(each - one.reserved, bytes, one.per_block);
}

}  // namespace bankwise::fit
