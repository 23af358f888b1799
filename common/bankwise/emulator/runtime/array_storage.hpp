// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <bankwise/emulator/runtime/arrays.hpp>

/// Internal to common/bankwise/emulator/runtime: rows without gaps, layers after one another.
struct cudaArray {
  cudaChannelFormatDesc format;
  std::size_t width, height, depth;  ///< at least 1
  unsigned flags;
  std::size_t element;  ///< bytes
  char* data;

  char* at(std::size_t x, std::size_t y, std::size_t z) const {
    return data + ((z * height + y) * width + x) * element;
  }
};
