// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace bankwise::cluster {

/// Consecutive words (32 bits) of a buffer that go to one rank, or come from one.
struct Piece {
  std::uint64_t first = 0, words = 0;
};

}  // namespace bankwise::cluster
