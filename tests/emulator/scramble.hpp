// SPDX-License-Identifier: MIT
#pragma once

#include <bankwise/emulator/cuda.hpp>

/// Numbers without a pattern.
__device__ inline constexpr unsigned scramble(unsigned i) {
  i = (i ^ i >> 16) * 0x7FEB352D;
  i = (i ^ i >> 15) * 0x846CA68B;
  return i ^ i >> 16;
}
