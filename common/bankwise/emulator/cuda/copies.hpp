// SPDX-License-Identifier: MIT
//
// Asynchronous copies from global to shared memory: __pipeline_memcpy_async() and what cooperative groups and cuda::
// make of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bankwise/emulator/cuda/qualifiers.hpp>

namespace bankwise::emulator::words {

// Not inlined, because the emulator reads the return address.

/// 4, 8 or 16 bytes, of which the last `zeros` become 0.
void copy_async(void* to, const void* from, unsigned bytes, unsigned zeros) noexcept;
void commit_async() noexcept;
/// Waits for all groups of copies except the latest `open`.
void wait_async(unsigned open) noexcept;
void wait_all_async() noexcept;

/// Copies of one thread among `threads`, in units as large as the alignment of both ends allows. Other copies are made
/// by loads and stores.
BANKWISE_WORD void copy_async_share(unsigned rank, unsigned threads, void* to, const void* from, std::size_t bytes) {
  auto* const target = static_cast<char*>(to);
  const auto* const source = static_cast<const char*>(from);
  const std::size_t bits =
      std::size_t(reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) | bytes;
  const unsigned unit = bits % 16 == 0 ? 16 : bits % 8 == 0 ? 8 : bits % 4 == 0 ? 4 : 1;
  for (std::size_t at = std::size_t(rank) * unit; at < bytes; at += std::size_t(threads) * unit) {
    if (unit == 1) {
      target[at] = source[at];
    } else {
      copy_async(target + at, source + at, unit, 0);
    }
  }
}

}  // namespace bankwise::emulator::words

namespace bankwise::cuda {

BANKWISE_WORD void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes, std::size_t zeros = 0) {
  emulator::words::copy_async(to, from, unsigned(bytes), unsigned(zeros));
}
BANKWISE_WORD void __pipeline_commit() {
  emulator::words::commit_async();
}
BANKWISE_WORD void __pipeline_wait_prior(std::size_t open) {
  emulator::words::wait_async(unsigned(open));
}

}  // namespace bankwise::cuda

using namespace bankwise::cuda;
