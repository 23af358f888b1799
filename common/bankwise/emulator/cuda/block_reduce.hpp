// cub::WarpReduce and cub::BlockReduce, and those of hipCUB. They make the accesses to shared memory that CUB 3 and
// rocPRIM make by default: each warp is reduced with shuffles, and the warps' results lie in shared memory.
#pragma once

#include <bankwise/emulator/cuda/cooperative_groups.hpp>

namespace cub {

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };

namespace detail {

struct Plus {
  template <class T>
  BANKWISE_DEVICE T operator()(const T& a, const T& b) const {
    return a + b;
  }
};

/// The values of several items of one thread, one after another.
template <class T, int items, class Operator>
BANKWISE_DEVICE T reduced_items(T (&values)[items], Operator combine) {
  T sum = values[0];
#pragma GCC unroll 64
  for (int i = 1; i < items; ++i) sum = combine(sum, values[i]);
  return sum;
}

/// The result is for the first lane. `valid`: lanes that have a value.
template <int lanes, class T, class Operator>
BANKWISE_DEVICE T reduced_lanes(T value, int valid, Operator combine) {
  using namespace bankwise::emulator;
  const device::LaneMask mask = device::neighbours(lanes);
  const int lane = int(device::own_lane() % lanes);
#pragma GCC unroll 6
  for (int distance = 1; distance < lanes; distance *= 2) {
    const T other = device::shuffle_object(device::Shuffle::down, mask, value, unsigned(distance), lanes);
    if (lane + distance < valid) value = combine(value, other);
  }
  return value;
}

constexpr int next_power_of_two(int n) {
  int power = 1;
  while (power < n) power *= 2;
  return power;
}

}  // namespace detail

template <class T, int lanes = bankwise::emulator::device::lanes_of_warp, int = 0>
class WarpReduce {
  static_assert(lanes > 0 && (lanes & (lanes - 1)) == 0,
                "cub::WarpReduce of a number of lanes that is no power of two is not emulated");

 public:
  struct TempStorage {};
  BANKWISE_DEVICE explicit WarpReduce(TempStorage&) {}
  template <class Operator>
  BANKWISE_DEVICE T Reduce(T value, Operator combine, int valid = lanes) {
    return detail::reduced_lanes<lanes>(value, valid, combine);
  }
  BANKWISE_DEVICE T Sum(T value, int valid = lanes) { return Reduce(value, detail::Plus(), valid); }
};

template <class T, int x, BlockReduceAlgorithm algorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int y = 1, int z = 1, int = 0>
class BlockReduce {
  static constexpr int threads = x * y * z;
#ifdef BANKWISE_WAVE
  static constexpr int least = detail::next_power_of_two(threads);
#else
  static constexpr int least = threads;
#endif
  static constexpr int wave = bankwise::emulator::device::lanes_of_warp;
  static constexpr int warp = least < wave ? least : wave;
  static constexpr int warps = (threads + warp - 1) / warp;
  static_assert(algorithm == BLOCK_REDUCE_WARP_REDUCTIONS,
                "the raking algorithms of cub::BlockReduce are not emulated");
  static_assert((warp & (warp - 1)) == 0,
                "cub::BlockReduce of fewer threads than a warp that are no power of two is not emulated");

 public:
  struct TempStorage {
    alignas(T) unsigned char results[sizeof(T) * warps];  // T may have a constructor, which shared memory may not
  };
  BANKWISE_DEVICE explicit BlockReduce(TempStorage& storage) : results_(reinterpret_cast<T*>(storage.results)) {}

  /// The result is for the first thread. `valid`: threads that have a value.
  template <class Operator>
  BANKWISE_DEVICE T Reduce(T value, Operator combine, int valid = threads) {
    using namespace bankwise::emulator;
    const int thread = int(device::rank()), of_warp = thread / warp;
    const int left = valid - of_warp * warp;
    value = detail::reduced_lanes<warp>(value, left < warp ? left : warp, combine);
    if (thread % warp == 0) results_[of_warp] = value;
    device::synchronize_block(false);
#ifdef BANKWISE_WAVE  // rocPRIM: the first lanes reduce the results of the waves
    if (thread < warps) {
      constexpr int lanes = detail::next_power_of_two(warps);
      value = detail::reduced_lanes<lanes>(results_[thread], (valid + warp - 1) / warp, combine);
    }
#else  // CUB: the first thread does
    if (thread == 0) {
#pragma GCC unroll 32
      for (int i = 1; i < warps; ++i) {
        if (i * warp < valid) value = combine(value, results_[i]);
      }
    }
#endif
    return value;
  }
  template <int items, class Operator>
  BANKWISE_DEVICE T Reduce(T (&values)[items], Operator combine) {
    return Reduce(detail::reduced_items(values, combine), combine);
  }
  BANKWISE_DEVICE T Sum(T value, int valid = threads) { return Reduce(value, detail::Plus(), valid); }
  template <int items>
  BANKWISE_DEVICE T Sum(T (&values)[items]) {
    return Reduce(values, detail::Plus());
  }

 private:
  T* results_;
};

}  // namespace cub
