// SPDX-License-Identifier: MIT
//
// What the table of architectures knows about a GPU besides the cost of an access.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace bankwise::banks {

/// What a multiprocessor (compute unit) has for its blocks.
struct Multiprocessor {
  std::uint32_t shared;                          ///< bytes of shared memory for all resident blocks
  std::uint32_t per_block;                       ///< bytes that one block may have
  std::uint32_t reserved;                        ///< bytes that the system takes of each block's
  std::uint32_t unit;                            ///< bytes in which it is allocated
  std::optional<std::uint32_t> threads, blocks;  ///< at most; empty: not known

  bool operator==(const Multiprocessor&) const = default;
};

/// A GPU as it is sold, with the properties that programs read.
struct GpuModel {
  std::string_view name;
  int major, minor;  ///< compute capability
  int multiprocessors, clock_khz, memory_khz, bus_bits;
  unsigned memory_gib, l2_kib;
  Multiprocessor multiprocessor;
};

/// Blocks of `threads` threads with `bytes` of shared memory that are resident at the same time, as far as shared
/// memory and threads limit them (registers may limit further). `threads` 0: not known.
std::uint32_t resident_blocks(const Multiprocessor& multiprocessor, std::uint64_t bytes, std::uint64_t threads);

/// The most bytes of shared memory with which as many blocks are resident as with `bytes`.
std::uint64_t bytes_with_same_occupancy(const Multiprocessor& multiprocessor, std::uint64_t bytes,
                                        std::uint64_t threads);

}  // namespace bankwise::banks
