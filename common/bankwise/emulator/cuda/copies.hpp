// SPDX-License-Identifier: MIT
//
// Asynchronous copies from global to shared memory: __pipeline_memcpy_async() and what cooperative groups and cuda::
// make of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bankwise/emulator/cuda/qualifiers.hpp>

namespace bankwise::emulator::device {

// Not inlined, because the emulator reads the return address.

/// 4, 8 or 16 bytes, of which the last `zeros` become 0.
void copy_async(void* to, const void* from, unsigned bytes, unsigned zeros) noexcept;
void commit_async() noexcept;
/// Waits for all groups of copies except the latest `open`.
void wait_async(unsigned open) noexcept;
void wait_all_async() noexcept;

/// Copies of one thread among `threads`, in units as large as the alignment of both ends allows. Other copies are made
/// by loads and stores.
BANKWISE_DEVICE void copy_async_share(unsigned rank, unsigned threads, void* to, const void* from, std::size_t bytes) {
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

}  // namespace bankwise::emulator::device

namespace bankwise::emulator::cuda {

BANKWISE_DEVICE void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes, std::size_t zeros = 0) {
  device::copy_async(to, from, unsigned(bytes), unsigned(zeros));
}
BANKWISE_DEVICE void __pipeline_commit() {
  device::commit_async();
}
BANKWISE_DEVICE void __pipeline_wait_prior(std::size_t open) {
  device::wait_async(unsigned(open));
}

}  // namespace bankwise::emulator::cuda

using namespace bankwise::emulator::cuda;
