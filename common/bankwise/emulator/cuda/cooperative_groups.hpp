// SPDX-License-Identifier: MIT
//
// Cooperative groups within a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <bankwise/emulator/cuda/math.hpp>
#include <bankwise/emulator/cuda/warp.hpp>

namespace bankwise::emulator::words {

/// The lane of the given rank among those of `mask`; the caller itself if there is none.
unsigned lane_of_rank(unsigned mask, unsigned rank) noexcept;

/// A shuffle of any trivially copyable object, word by word.
template <class T>
BANKWISE_WORD T shuffle_object(Shuffle how, unsigned mask, const T& value, unsigned argument, int width) {
  static_assert(__is_trivially_copyable(T) && sizeof(T) <= 32, "shuffled objects are small and trivially copyable");
  if constexpr (sizeof(T) < 4) {
    static_assert(sizeof(T) != 3, "shuffled objects have 1, 2, 4, 8, 12 ... bytes");
    using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>;
    return __builtin_bit_cast(T, Bits(shuffle(how, mask, __builtin_bit_cast(Bits, value), argument, width)));
  } else if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    return from_word<T>(shuffle(how, mask, to_word(value), argument, width));
  } else {
    static_assert(sizeof(T) % 4 == 0, "shuffled objects have 1, 2, 4, 8, 12 ... bytes");
    struct Words {
      std::uint32_t word[sizeof(T) / 4];
    };
    Words words = __builtin_bit_cast(Words, value);
    [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
      ((words.word[i] = std::uint32_t(shuffle(how, mask, words.word[i], argument, width))), ...);
    }
    (std::make_index_sequence<sizeof(T) / 4>());
    return __builtin_bit_cast(T, words);
  }
}

}  // namespace bankwise::emulator::words

namespace bankwise::cuda::cooperative_groups {

/// All threads of the block.
class thread_block {
 public:
  BANKWISE_WORD static void sync() { __syncthreads(); }
  BANKWISE_WORD static unsigned thread_rank() { return emulator::words::rank(); }
  BANKWISE_WORD static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  BANKWISE_WORD static unsigned size() { return num_threads(); }
  BANKWISE_WORD static dim3 group_index() { return blockIdx; }
  BANKWISE_WORD static dim3 thread_index() { return threadIdx; }
  BANKWISE_WORD static dim3 dim_threads() { return blockDim; }
  BANKWISE_WORD static dim3 group_dim() { return blockDim; }
};
BANKWISE_WORD thread_block this_thread_block() {
  return {};
}

/// `count` neighbouring lanes of a warp; a power of two.
template <unsigned count, class Parent = void>
class thread_block_tile {
  static_assert(count > 0 && count <= 32 && (count & (count - 1)) == 0, "a tile is 1, 2, 4, 8, 16 or 32 lanes");

 public:
  BANKWISE_WORD void sync() const { __syncwarp(mask()); }
  BANKWISE_WORD static unsigned thread_rank() { return emulator::words::lane() % count; }
  BANKWISE_WORD static constexpr unsigned num_threads() { return count; }
  BANKWISE_WORD static constexpr unsigned size() { return count; }
  BANKWISE_WORD unsigned meta_group_rank() const { return rank_ / count; }
  BANKWISE_WORD unsigned meta_group_size() const { return (parent_size_ + count - 1) / count; }

  template <class T>
  BANKWISE_WORD T shfl(T value, int source) const {
    return exchange(emulator::words::Shuffle::from, value, unsigned(source));
  }
  template <class T>
  BANKWISE_WORD T shfl_up(T value, unsigned delta) const {
    return exchange(emulator::words::Shuffle::up, value, delta);
  }
  template <class T>
  BANKWISE_WORD T shfl_down(T value, unsigned delta) const {
    return exchange(emulator::words::Shuffle::down, value, delta);
  }
  template <class T>
  BANKWISE_WORD T shfl_xor(T value, unsigned lane_mask) const {
    return exchange(emulator::words::Shuffle::exclusive_or, value, lane_mask);
  }
  BANKWISE_WORD int any(int predicate) const { return __any_sync(mask(), predicate); }
  BANKWISE_WORD int all(int predicate) const { return __all_sync(mask(), predicate); }
  BANKWISE_WORD unsigned ballot(int predicate) const { return __ballot_sync(mask(), predicate) >> first(); }
  template <class T>
  BANKWISE_WORD unsigned match_any(T value) const {
    return __match_any_sync(mask(), value) >> first();
  }
  template <class T>
  BANKWISE_WORD unsigned match_all(T value, int& predicate) const {
    const unsigned all = emulator::words::match_all(mask(), emulator::words::to_word(value));
    predicate = all != 0;
    return all >> first();
  }

 private:
  template <unsigned, class>
  friend class thread_block_tile;
  template <unsigned tile, class Group>
  friend thread_block_tile<tile, Group> tiled_partition(const Group& group);
  BANKWISE_WORD thread_block_tile(unsigned rank, unsigned parent_size) : rank_(rank), parent_size_(parent_size) {}

  BANKWISE_WORD static unsigned first() { return emulator::words::lane() & ~(count - 1); }
  BANKWISE_WORD static unsigned mask() { return (0xFFFFFFFFu >> (32 - count)) << first(); }
  template <class T>
  BANKWISE_WORD static T exchange(emulator::words::Shuffle how, const T& value, unsigned argument) {
    return emulator::words::shuffle_object(how, mask(), value, argument, count);
  }

  unsigned rank_, parent_size_;  // of the lane in the group that was partitioned, and the size of that group
};

template <unsigned tile, class Group>
BANKWISE_WORD thread_block_tile<tile, Group> tiled_partition(const Group& group) {
  return {group.thread_rank(), group.num_threads()};
}

/// The lanes that executed the call together.
class coalesced_group {
 public:
  BANKWISE_WORD void sync() const { __syncwarp(mask_); }
  BANKWISE_WORD unsigned thread_rank() const { return rank_of(1u << emulator::words::lane()); }
  BANKWISE_WORD unsigned num_threads() const { return unsigned(__popc(mask_)); }
  BANKWISE_WORD unsigned size() const { return num_threads(); }
  template <class T>
  BANKWISE_WORD T shfl(T value, unsigned source) const {
    return exchange(value, source);
  }
  template <class T>
  BANKWISE_WORD T shfl_up(T value, unsigned delta) const {
    return exchange(value, thread_rank() - delta);
  }
  template <class T>
  BANKWISE_WORD T shfl_down(T value, unsigned delta) const {
    return exchange(value, thread_rank() + delta);
  }
  BANKWISE_WORD int any(int predicate) const { return __any_sync(mask_, predicate); }
  BANKWISE_WORD int all(int predicate) const { return __all_sync(mask_, predicate); }

 private:
  friend coalesced_group coalesced_threads();
  BANKWISE_WORD explicit coalesced_group(unsigned mask) : mask_(mask) {}
  BANKWISE_WORD unsigned rank_of(unsigned lane_bit) const { return unsigned(__popc(mask_ & (lane_bit - 1))); }
  template <class T>
  BANKWISE_WORD T exchange(const T& value, unsigned rank) const {
    const unsigned source = emulator::words::lane_of_rank(mask_, rank);
    return emulator::words::shuffle_object(emulator::words::Shuffle::from, mask_, value, source, 32);
  }

  unsigned mask_;
};
BANKWISE_WORD coalesced_group coalesced_threads() {
  return coalesced_group(__activemask());
}

template <class Group>
BANKWISE_WORD void sync(const Group& group) {
  group.sync();
}

#define BANKWISE_OPERATOR(name, expression)                           \
  template <class T>                                                  \
  struct name {                                                       \
    BANKWISE_WORD T operator()(T a, T b) const { return expression; } \
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
BANKWISE_WORD T reduce(const thread_block_tile<count, Parent>& tile, T value, Operator&& combine) {
  [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
    ((value = combine(value, tile.shfl_xor(value, count >> (i + 1)))), ...);
  }
  (std::make_index_sequence<std::size_t(__builtin_ctz(count))>());
  return value;
}

}  // namespace bankwise::cuda::cooperative_groups

using namespace bankwise::cuda;
