// Cooperative groups: reductions and scans.
#pragma once

#include <bankwise/emulator/cuda/cooperative_groups.hpp>

namespace bankwise::emulator::cuda::cooperative_groups {

#define BANKWISE_OPERATOR(name, expression)                             \
  template <class T>                                                    \
  struct name {                                                         \
    BANKWISE_DEVICE T operator()(T a, T b) const { return expression; } \
  };
BANKWISE_OPERATOR(plus, a + b)
BANKWISE_OPERATOR(less, a < b ? a : b)
BANKWISE_OPERATOR(greater, a > b ? a : b)
BANKWISE_OPERATOR(bit_and, a& b)
BANKWISE_OPERATOR(bit_or, a | b)
BANKWISE_OPERATOR(bit_xor, a ^ b)
#undef BANKWISE_OPERATOR

/// A butterfly reduction, in the order in which CUDA's library adds.
template <unsigned count, class Parent, class T, class Operator>
BANKWISE_DEVICE T reduce(const thread_block_tile<count, Parent>& tile, T value, Operator&& combine) {
  if constexpr (count > 32) value = combine(value, tile.shfl_xor(value, 32));
  if constexpr (count > 16) value = combine(value, tile.shfl_xor(value, 16));
  if constexpr (count > 8) value = combine(value, tile.shfl_xor(value, 8));
  if constexpr (count > 4) value = combine(value, tile.shfl_xor(value, 4));
  if constexpr (count > 2) value = combine(value, tile.shfl_xor(value, 2));
  if constexpr (count > 1) value = combine(value, tile.shfl_xor(value, 1));
  return value;
}
template <class T, class Operator>
BANKWISE_DEVICE T reduce(const coalesced_group& group, T value, Operator&& combine) {
  const unsigned rank = group.thread_rank(), size = group.num_threads();
  for (unsigned distance = 1; distance < size; distance *= 2) {
    const T other = group.shfl_down(value, distance);
    if (rank + distance < size) value = combine(value, other);
  }
  return group.shfl(value, 0);
}

/// The result over the values of all lanes up to the caller's.
template <class Group, class T, class Operator>
BANKWISE_DEVICE T inclusive_scan(const Group& group, T value, Operator&& combine) {
  const unsigned rank = group.thread_rank(), size = group.num_threads();
  for (unsigned distance = 1; distance < size; distance *= 2) {
    const T other = group.shfl_up(value, distance);
    if (rank >= distance) value = combine(other, value);
  }
  return value;
}
template <class Group, class T>
BANKWISE_DEVICE T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
/// The result over the values of all lanes before the caller's; T() for the first.
template <class Group, class T, class Operator>
BANKWISE_DEVICE T exclusive_scan(const Group& group, T value, Operator&& combine) {
  const T before = group.shfl_up(inclusive_scan(group, value, combine), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T>
BANKWISE_DEVICE T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace bankwise::emulator::cuda::cooperative_groups
