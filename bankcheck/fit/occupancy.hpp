// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include <bankwise/banks/architecture.hpp>

namespace bankwise::fit {

/// What a multiprocessor (compute unit) has for its blocks. 0: not known.
struct Multiprocessor {
  std::string_view architecture;
  std::uint32_t shared = 0;     ///< bytes of shared memory for all resident blocks
  std::uint32_t per_block = 0;  ///< bytes that one block may have
  std::uint32_t reserved = 0;   ///< bytes that the system takes of each block's
  std::uint32_t unit = 1;       ///< bytes in which it is allocated
  std::uint32_t threads = 0, blocks = 0;
};

/// Null if nothing is known.
const Multiprocessor* multiprocessor_of(const banks::Architecture& architecture);

/// Blocks of `threads` threads with `bytes` of shared memory that are resident at the same time, as far as shared
/// memory and threads limit them (registers may limit further). `threads` 0: not known.
std::uint32_t resident_blocks(const Multiprocessor& one, std::uint64_t bytes, std::uint64_t threads);

/// The most bytes of shared memory with which as many blocks are resident as with `bytes`.
std::uint64_t bytes_with_same_occupancy(const Multiprocessor& one, std::uint64_t bytes, std::uint64_t threads);

}  // namespace bankwise::fit
