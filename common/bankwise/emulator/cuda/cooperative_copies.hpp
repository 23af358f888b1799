// SPDX-License-Identifier: MIT
//
// Cooperative groups: memcpy_async() and wait().
#pragma once

#include <bankwise/emulator/cuda/cooperative_groups.hpp>
#include <bankwise/emulator/cuda/copies.hpp>

namespace cuda {

/// Bytes that are a multiple of an alignment.
template <std::size_t alignment>
struct aligned_size_t {
  static constexpr std::size_t align = alignment;
  std::size_t value;
  constexpr explicit aligned_size_t(std::size_t bytes) : value(bytes) {}
  constexpr operator std::size_t() const { return value; }
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

using namespace bankwise::emulator::cuda;
