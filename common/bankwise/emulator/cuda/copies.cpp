// SPDX-License-Identifier: MIT
//
// CUDA's asynchronous copies, barrier objects and fragments. Compiled without instrumentation. The kernel calls these
// functions directly, so each knows its return address in the kernel.
#include <algorithm>
#include <cstring>

#include <bankwise/emulator/core/lane_memory.hpp>
#include <bankwise/emulator/cuda/barrier.hpp>
#include <bankwise/emulator/cuda/memory.hpp>

#define BANKWISE_CALLER __builtin_return_address(0)

namespace bankwise::emulator::device {

unsigned shared_address(const void* address) noexcept {
  return to_shared_address(address);
}
void* generic_address(unsigned address) noexcept {
  return from_shared_address(address);
}
bool is_in_shared(const void* address) noexcept {
  return is_shared(address);
}

void copy_async(void* to, const void* from, unsigned bytes, unsigned zeros) noexcept {
  start_copy(to, from, bytes, bytes - std::min(zeros, bytes), BANKWISE_CALLER);
}
void commit_async() noexcept {
  commit_copies();
}
void wait_async(unsigned open) noexcept {
  wait_for_copies(open, BANKWISE_CALLER);
}
void wait_all_async() noexcept {
  wait_for_all_copies(BANKWISE_CALLER);
}

void init_barrier(void* object, unsigned expected) noexcept {
  init_rounds(object, expected, BANKWISE_CALLER);
}
std::uint64_t arrive_at_barrier(void* object, unsigned arrivals, unsigned drops) noexcept {
  // Copies that are bound to the barrier complete before its round does.
  Parts parts;
  wait_for_all_copies(BANKWISE_CALLER);
  parts.next();
  return arrive(object, arrivals, drops, BANKWISE_CALLER);
}
void wait_at_barrier(void* object, std::uint64_t round) noexcept {
  wait_for_round(object, round, BANKWISE_CALLER);
}
bool test_barrier(void* object, std::uint64_t round) noexcept {
  return is_round_done(object, round, BANKWISE_CALLER);
}
void wait_at_barrier_parity(void* object, bool parity) noexcept {
  const std::uint64_t done = rounds_done(object, BANKWISE_CALLER);
  if (((done & 1) != 0) == parity) wait_for_round(object, done, BANKWISE_CALLER);
}

}  // namespace bankwise::emulator::device
