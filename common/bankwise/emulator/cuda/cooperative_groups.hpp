// Cooperative groups: blocks, tiles of a warp, coalesced threads, grids.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bankwise/emulator/cuda/math.hpp>
#include <bankwise/emulator/cuda/not_emulated.hpp>
#include <bankwise/emulator/cuda/warp.hpp>

namespace bankwise::emulator::device {

BANKWISE_FUNCTION(unsigned, count_of, (LaneMask lanes), unsigned(__builtin_popcountll(lanes)))
/// The bit of the caller's lane.
BANKWISE_FUNCTION(LaneMask, lane_bit, (), LaneMask{1} << own_lane())
/// `count` neighbouring lanes, the caller's among them; a power of two.
BANKWISE_FUNCTION(unsigned, first_of, (unsigned count), own_lane() & ~(count - 1))
BANKWISE_FUNCTION(LaneMask, neighbours, (unsigned count),
                  (~LaneMask{0} >> (8 * sizeof(LaneMask) - count)) << first_of(count))

/// Waits for all blocks of a cooperative launch.
void synchronize_grid() noexcept;
/// Whether the launch is cooperative.
[[gnu::const]] bool grid_is_cooperative() noexcept;

/// A shuffle of any trivially copyable object, word by word.
template <class T>
BANKWISE_DEVICE T shuffle_object(Shuffle how, LaneMask mask, const T& value, unsigned argument, int width) {
  static_assert(__is_trivially_copyable(T) && sizeof(T) <= 32, "shuffled objects are small and trivially copyable");
  if constexpr (sizeof(T) <= 2 || sizeof(T) == 4 || sizeof(T) == 8) {
    return from_bits<T>(shuffle(how, mask, to_bits(value), argument, width));
  } else {
    static_assert(sizeof(T) % 4 == 0, "shuffled objects have 1, 2, 4, 8, 12 ... bytes");
    struct Words {
      std::uint32_t word[sizeof(T) / 4];
    };
    Words words = __builtin_bit_cast(Words, value);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < sizeof(T) / 4; ++i) {
      words.word[i] = std::uint32_t(shuffle(how, mask, words.word[i], argument, width));
    }
    return __builtin_bit_cast(T, words);
  }
}

}  // namespace bankwise::emulator::device

namespace bankwise::emulator::cuda::cooperative_groups {

// Functions, not threadIdx and the like: those are macros in one mode and variables in the other.
BANKWISE_FUNCTION(unsigned, block_threads, (), device::block_size_x() * device::block_size_y() * device::block_size_z())
BANKWISE_FUNCTION(unsigned long long, grid_blocks, (), 1ull * device::grid_x() * device::grid_y() * device::grid_z())
BANKWISE_FUNCTION(unsigned long long, rank_of_block, (),
                  (1ull * device::block_z() * device::grid_y() + device::block_y()) * device::grid_x() +
                      device::block_x())

#define BANKWISE_EXCHANGE(name, ...)                         \
  template <class T>                                         \
  BANKWISE_DEVICE T name(T value, unsigned argument) const { \
    return exchange(__VA_ARGS__);                            \
  }

// Votes of the lanes of `mask`; `ranks(lanes)` makes bits of ranks of bits of lanes.
#define BANKWISE_VOTES(mask, ranks)                                                                              \
  BANKWISE_DEVICE int any(int predicate) const { return __any_sync(mask, predicate); }                           \
  BANKWISE_DEVICE int all(int predicate) const { return __all_sync(mask, predicate); }                           \
  BANKWISE_DEVICE device::LaneMask ballot(int predicate) const { return ranks(__ballot_sync(mask, predicate)); } \
  template <class T>                                                                                             \
  BANKWISE_DEVICE device::LaneMask match_any(T value) const {                                                    \
    return ranks(__match_any_sync(mask, value));                                                                 \
  }                                                                                                              \
  template <class T>                                                                                             \
  BANKWISE_DEVICE device::LaneMask match_all(T value, int& predicate) const {                                    \
    const device::LaneMask lanes = device::match_all(mask, device::to_bits(value));                              \
    predicate = lanes != 0;                                                                                      \
    return ranks(lanes);                                                                                         \
  }

/// Lanes of a warp that a mask names; also the base of what CUDA calls coalesced groups.
class coalesced_group {
 public:
  /// The lanes that executed the call together are the default; partitions name others.
  BANKWISE_DEVICE explicit coalesced_group(device::LaneMask mask, unsigned part = 0, unsigned parts = 1)
      : mask_(mask), part_(part), parts_(parts) {}
  BANKWISE_DEVICE void sync() const { __syncwarp(mask_); }
  BANKWISE_DEVICE unsigned thread_rank() const { return device::count_of(mask_ & (device::lane_bit() - 1)); }
  BANKWISE_DEVICE unsigned num_threads() const { return device::count_of(mask_); }
  BANKWISE_DEVICE unsigned size() const { return num_threads(); }
  BANKWISE_DEVICE unsigned meta_group_rank() const { return part_; }
  BANKWISE_DEVICE unsigned meta_group_size() const { return parts_; }
  BANKWISE_EXCHANGE(shfl, value, argument)
  BANKWISE_EXCHANGE(shfl_up, value, thread_rank() - argument)
  BANKWISE_EXCHANGE(shfl_down, value, thread_rank() + argument)
  BANKWISE_VOTES(mask_, packed)
  /// For the algorithms here; CUDA's groups have no such member.
  BANKWISE_DEVICE device::LaneMask lanes_of_warp() const { return mask_; }

 private:
  /// Bits of lanes as bits of ranks.
  BANKWISE_DEVICE device::LaneMask packed(device::LaneMask lanes) const {
    device::LaneMask ranks = 0;
    unsigned rank = 0;
    for (device::LaneMask rest = mask_; rest != 0; ++rank, rest &= rest - 1) {
      ranks |= (lanes >> __builtin_ctzll(rest) & 1) << rank;
    }
    return ranks;
  }
  template <class T>
  BANKWISE_DEVICE T exchange(const T& value, unsigned rank) const {
    const unsigned source = device::lane_of_rank(mask_, rank);
    return device::shuffle_object(device::Shuffle::from, mask_, value, source, warpSize);
  }

  device::LaneMask mask_;
  unsigned part_, parts_;
};
BANKWISE_FUNCTION(coalesced_group, coalesced_threads, (), coalesced_group(__activemask()))

/// Any group, known at run time only.
class thread_group {
 public:
  enum class Kind { block, lanes, grid };
  BANKWISE_DEVICE thread_group(Kind kind, device::LaneMask mask) : kind_(kind), mask_(mask) {}
  BANKWISE_DEVICE thread_group(const coalesced_group& lanes) : thread_group(Kind::lanes, lanes.lanes_of_warp()) {}
  BANKWISE_DEVICE void sync() const {
    if (kind_ == Kind::block) __syncthreads();
    if (kind_ == Kind::lanes) __syncwarp(mask_);
    if (kind_ == Kind::grid) device::synchronize_grid();
  }
  BANKWISE_DEVICE unsigned long long num_threads() const {
    const unsigned block = block_threads();
    if (kind_ == Kind::lanes) return device::count_of(mask_);
    return kind_ == Kind::block ? block : grid_blocks() * block;
  }
  BANKWISE_DEVICE unsigned long long size() const { return num_threads(); }
  BANKWISE_DEVICE unsigned long long thread_rank() const {
    if (kind_ == Kind::lanes) return device::count_of(mask_ & (device::lane_bit() - 1));
    if (kind_ == Kind::block) return device::rank();
    return rank_of_block() * block_threads() + device::rank();
  }
  BANKWISE_DEVICE bool is_valid() const { return kind_ != Kind::grid || device::grid_is_cooperative(); }
  BANKWISE_DEVICE device::LaneMask lanes_of_warp() const { return mask_; }
  BANKWISE_DEVICE bool is_of_lanes() const { return kind_ == Kind::lanes; }

 private:
  Kind kind_;
  device::LaneMask mask_;
};

/// All threads of the block.
class thread_block {
 public:
  BANKWISE_DEVICE static void sync() { __syncthreads(); }
  BANKWISE_DEVICE static unsigned thread_rank() { return device::rank(); }
  BANKWISE_DEVICE static unsigned num_threads() { return block_threads(); }
  BANKWISE_DEVICE static unsigned size() { return num_threads(); }
  BANKWISE_DEVICE static dim3 group_index() { return cuda::block_index(); }
  BANKWISE_DEVICE static dim3 thread_index() { return cuda::thread_index(); }
  BANKWISE_DEVICE static dim3 dim_threads() { return block_dimensions(); }
  BANKWISE_DEVICE static dim3 group_dim() { return block_dimensions(); }
  BANKWISE_DEVICE operator thread_group() const { return {thread_group::Kind::block, 0}; }
};
BANKWISE_FUNCTION(thread_block, this_thread_block, (), {})

/// All threads of a cooperative launch.
class grid_group {
 public:
  BANKWISE_DEVICE static void sync() { device::synchronize_grid(); }
  BANKWISE_DEVICE static bool is_valid() { return device::grid_is_cooperative(); }
  BANKWISE_DEVICE static unsigned long long thread_rank() { return all().thread_rank(); }
  BANKWISE_DEVICE static unsigned long long num_threads() { return all().num_threads(); }
  BANKWISE_DEVICE static unsigned long long size() { return num_threads(); }
  BANKWISE_DEVICE static unsigned long long num_blocks() { return grid_blocks(); }
  BANKWISE_DEVICE static unsigned long long block_rank() { return rank_of_block(); }
  BANKWISE_DEVICE static dim3 block_index() { return cuda::block_index(); }
  BANKWISE_DEVICE static dim3 dim_blocks() { return grid_dimensions(); }
  BANKWISE_DEVICE static dim3 group_dim() { return grid_dimensions(); }
  BANKWISE_DEVICE operator thread_group() const { return all(); }

 private:
  BANKWISE_DEVICE static thread_group all() { return {thread_group::Kind::grid, 0}; }
};
BANKWISE_FUNCTION(grid_group, this_grid, (), {})

/// `count` neighbouring lanes of a warp; a power of two.
template <unsigned count, class Parent = void>
class thread_block_tile {
  static_assert(count <= unsigned(warpSize),
                "tiles of several warps are not emulated: a thread_block_tile has at most "
                "warpSize lanes");
  static_assert(count > 0 && (count & (count - 1)) == 0, "the lanes of a tile are a power of two");

 public:
  BANKWISE_DEVICE thread_block_tile(unsigned rank, unsigned parent_size) : rank_(rank), parent_size_(parent_size) {}
  BANKWISE_DEVICE operator thread_block_tile<count, void>() const { return {rank_, parent_size_}; }
  BANKWISE_DEVICE operator thread_group() const { return {thread_group::Kind::lanes, mask()}; }
  BANKWISE_DEVICE operator coalesced_group() const {
    return coalesced_group(mask(), meta_group_rank(), meta_group_size());
  }

  BANKWISE_DEVICE void sync() const { __syncwarp(mask()); }
  BANKWISE_DEVICE static unsigned thread_rank() { return device::own_lane() % count; }
  BANKWISE_DEVICE static constexpr unsigned num_threads() { return count; }
  BANKWISE_DEVICE static constexpr unsigned size() { return count; }
  BANKWISE_DEVICE unsigned meta_group_rank() const { return rank_ / count; }
  BANKWISE_DEVICE unsigned meta_group_size() const { return (parent_size_ + count - 1) / count; }

  BANKWISE_EXCHANGE(shfl, device::Shuffle::from, value, argument)
  BANKWISE_EXCHANGE(shfl_up, device::Shuffle::up, value, argument)
  BANKWISE_EXCHANGE(shfl_down, device::Shuffle::down, value, argument)
  BANKWISE_EXCHANGE(shfl_xor, device::Shuffle::exclusive_or, value, argument)
#undef BANKWISE_EXCHANGE
  BANKWISE_VOTES(mask(), packed)
#undef BANKWISE_VOTES
  BANKWISE_DEVICE device::LaneMask lanes_of_warp() const { return mask(); }

 private:
  BANKWISE_DEVICE static device::LaneMask mask() { return device::neighbours(count); }
  BANKWISE_DEVICE static device::LaneMask packed(device::LaneMask lanes) { return lanes >> device::first_of(count); }
  template <class T>
  BANKWISE_DEVICE static T exchange(device::Shuffle how, const T& value, unsigned argument) {
    return device::shuffle_object(how, mask(), value, argument, count);
  }

  unsigned rank_, parent_size_;  // the lane's rank in the group that was partitioned, and that group's size
};

template <unsigned tile, class Group>
BANKWISE_DEVICE thread_block_tile<tile, Group> tiled_partition(const Group& group) {
  return {unsigned(group.thread_rank()), unsigned(group.num_threads())};
}

// --- partitions whose size is known at run time ---

/// `size` neighbouring ranks of some lanes.
BANKWISE_DEVICE coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  const unsigned part = parent.thread_rank() / size;
  device::LaneMask own = 0;
  unsigned rank = 0;
  for (device::LaneMask rest = parent.lanes_of_warp(); rest != 0; ++rank, rest &= rest - 1) {
    own |= rank / size == part ? rest & -rest : 0;
  }
  return coalesced_group(own, part, (parent.num_threads() + size - 1) / size);
}
BANKWISE_DEVICE thread_group tiled_partition(const thread_block&, unsigned size) {
  return {thread_group::Kind::lanes, device::neighbours(size)};
}
BANKWISE_DEVICE thread_group tiled_partition(const thread_group& parent, unsigned size) {
  if (!parent.is_of_lanes()) return tiled_partition(thread_block(), size);
  return tiled_partition(coalesced_group(parent.lanes_of_warp()), size);
}

/// The lanes of a group with the same label.
template <class Label>
BANKWISE_DEVICE coalesced_group labeled_partition(const coalesced_group& group, Label label) {
  const device::LaneMask own = __match_any_sync(group.lanes_of_warp(), label), leader = own & -own;
  // Parts are numbered by their first lanes.
  const device::LaneMask leaders = __ballot_sync(group.lanes_of_warp(), device::lane_bit() == leader);
  return coalesced_group(own, device::count_of(leaders & (leader - 1)), device::count_of(leaders));
}
BANKWISE_DEVICE coalesced_group binary_partition(const coalesced_group& group, bool predicate) {
  const device::LaneMask lanes = group.lanes_of_warp(), yes = __ballot_sync(lanes, predicate), no = lanes & ~yes;
  return coalesced_group(predicate ? yes : no, predicate ? 1 : 0, yes != 0 && no != 0 ? 2 : 1);
}

// --- functions in place of members ---

#define BANKWISE_MEMBER(name, member)             \
  template <class Group>                          \
  BANKWISE_DEVICE auto name(const Group& group) { \
    return group.member();                        \
  }
BANKWISE_MEMBER(sync, sync)
BANKWISE_MEMBER(synchronize, sync)
BANKWISE_MEMBER(thread_rank, thread_rank)
BANKWISE_MEMBER(group_size, num_threads)
#undef BANKWISE_MEMBER
template <class Group>
BANKWISE_DEVICE constexpr bool is_valid(const Group&) {
  return true;
}
BANKWISE_FUNCTION(bool, is_valid, (const grid_group&), grid_group::is_valid())

/// The first lane of the group calls the function.
template <class Group, class Function, class... Arguments>
BANKWISE_DEVICE void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) function(arguments...);
}

BANKWISE_NOT_EMULATED(grid_group, this_cluster)
BANKWISE_NOT_EMULATED(grid_group, this_multi_grid)

}  // namespace bankwise::emulator::cuda::cooperative_groups
