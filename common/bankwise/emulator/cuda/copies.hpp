// Asynchronous copies from global to shared memory: __pipeline_memcpy_async(), and cooperative groups' and cuda::'s.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bankwise/emulator/cuda/cooperative_groups.hpp>

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
BANKWISE_DEVICE void __pipeline_commit() { device::commit_async(); }
BANKWISE_DEVICE void __pipeline_wait_prior(std::size_t open) { device::wait_async(unsigned(open)); }

}  // namespace bankwise::emulator::cuda

namespace cuda {

/// Bytes that are a multiple of an alignment.
template <::std::size_t alignment>
struct aligned_size_t {
  static constexpr ::std::size_t align = alignment;
  ::std::size_t value;
  constexpr explicit aligned_size_t(::std::size_t bytes) : value(bytes) {}
  constexpr operator ::std::size_t() const { return value; }
};

}  // namespace cuda

namespace bankwise::emulator::cuda::cooperative_groups {

using ::cuda::aligned_size_t;

template <class Group>
BANKWISE_DEVICE void memcpy_async(const Group& group, void* to, const void* from, std::size_t bytes) {
  device::copy_async_share(unsigned(group.thread_rank()), unsigned(group.num_threads()), to, from, bytes);
  device::commit_async();
}
template <class Group>
BANKWISE_DEVICE void wait(const Group& group) {
  device::wait_async(0);
  group.sync();
}
template <unsigned open, class Group>
BANKWISE_DEVICE void wait_prior(const Group& group) {
  device::wait_async(open);
  group.sync();
}

}  // namespace bankwise::emulator::cuda::cooperative_groups
