// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace bankwise::emulator::runtime {

/// 128 bits that stand for the content of memory.
struct Digest {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
};

/// Reads about 10 GB/s.
Digest digest_of(const void* memory, std::size_t bytes);

}  // namespace bankwise::emulator::runtime
