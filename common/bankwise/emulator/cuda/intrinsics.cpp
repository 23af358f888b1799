// SPDX-License-Identifier: MIT
//
// CUDA's functions that need all lanes, or memory. Compiled without instrumentation: none of this counts as work of the
// kernel. The kernel calls these functions directly, so each knows its return address in the kernel.
#include <algorithm>
#include <cstdio>
#include <string_view>
#include <type_traits>

#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/cuda/atomics.hpp>
#include <bankwise/emulator/cuda/barrier.hpp>
#include <bankwise/emulator/cuda/cooperative_groups.hpp>
#include <bankwise/emulator/cuda/indices.hpp>
#include <bankwise/emulator/cuda/memory.hpp>
#include <bankwise/emulator/cuda/synchronization.hpp>
#include <bankwise/emulator/cuda/warp.hpp>

#define BANKWISE_CALLER __builtin_return_address(0)

// clock(), for kernels and for the code around them.
extern "C" clock_t bankwise_emulator_clock() noexcept {
  using namespace bankwise::emulator;
  if (on_lane()) return clock_t(steps(BANKWISE_CALLER));
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return clock_t(used.tv_sec * CLOCKS_PER_SEC + used.tv_nsec / (1'000'000'000 / CLOCKS_PER_SEC));
}

namespace bankwise::emulator::device {

#define BANKWISE_INDEX(name)                                  \
  unsigned name##_x() noexcept { return this_lane().name.x; } \
  unsigned name##_y() noexcept { return this_lane().name.y; } \
  unsigned name##_z() noexcept { return this_lane().name.z; }
BANKWISE_INDEX(thread)
BANKWISE_INDEX(block)
BANKWISE_INDEX(block_size)
BANKWISE_INDEX(grid)
#undef BANKWISE_INDEX
unsigned rank() noexcept { return this_lane().rank; }
unsigned lane() noexcept { return this_lane().lane % 32; }

namespace {

/// The first lane of the caller's half of its warp.
unsigned first_of_half() { return this_lane().lane & 32; }

/// Converts a mask of CUDA to one of the whole warp.
std::uint64_t of_warp(unsigned mask) {
  const unsigned lanes = this_lane().warp_size;
  const std::uint64_t warp_mask = lanes >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lanes) - 1;
  return std::uint64_t{mask} << first_of_half() & warp_mask;
}

/// The lanes of the caller's half that took part, and their values.
struct HalfWarp {
  unsigned came;
  const std::uint64_t* values;
  bool has(unsigned lane) const { return came >> lane & 1; }
};
HalfWarp meet(WarpMeeting kind, unsigned mask, std::uint64_t value, const void* caller) {
  const Meeting meeting = meet_warp(kind, of_warp(mask), value, caller);
  const unsigned first = first_of_half();
  return {unsigned(meeting.mask >> first), meeting.values + first};
}

/// The lane from which a shuffle takes its value: the rules of PTX's shfl.sync.
unsigned source_of(Shuffle how, unsigned lane, unsigned argument, int width) {
  const unsigned segment = (32u - unsigned(width)) & 31;  // bits that number the segments of `width` lanes
  const unsigned first = lane & segment, last = first | (~segment & 31);
  const int by = int(argument & 31);
  const int own = int(lane);
  int source = own;  // NOLINT(clang-analyzer-deadcode.DeadStores): for compilers that know no other value of Shuffle
  switch (how) {
    case Shuffle::from:
      return first | (unsigned(by) & ~segment & 31);
    case Shuffle::up:
      source = own - by;
      return source < int(first) ? lane : unsigned(source);
    case Shuffle::down:
      source = own + by;
      break;
    case Shuffle::exclusive_or:
      source = own ^ by;
      break;
  }
  return source > int(last) ? lane : unsigned(source);  // lanes of earlier segments are within reach of the XOR
}

}  // namespace

unsigned synchronize_block(bool says_yes) noexcept { return meet_block(says_yes, BANKWISE_CALLER); }

void synchronize_warp(unsigned mask) noexcept { meet_warp(WarpMeeting::sync, of_warp(mask), 0, BANKWISE_CALLER); }

long long clock() noexcept { return steps(BANKWISE_CALLER); }

void trap() noexcept { emulator::trap("__trap()", BANKWISE_CALLER); }

std::uint64_t shuffle(Shuffle how, unsigned mask, std::uint64_t value, unsigned argument, int width) noexcept {
  const HalfWarp half = meet(WarpMeeting::shuffle, mask, value, BANKWISE_CALLER);
  const unsigned source = source_of(how, lane(), argument, width);
  return half.has(source) ? half.values[source] : 0xCDCDCDCDCDCDCDCD;
}

Votes vote(unsigned mask, bool says_yes) noexcept {
  const HalfWarp half = meet(WarpMeeting::vote, mask, says_yes, BANKWISE_CALLER);
  Votes votes{half.came, 0};
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (half.has(lane) && half.values[lane] != 0) votes.yes |= 1u << lane;
  }
  return votes;
}

unsigned match_any(unsigned mask, std::uint64_t value) noexcept {
  const HalfWarp half = meet(WarpMeeting::match, mask, value, BANKWISE_CALLER);
  unsigned same = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (half.has(lane) && half.values[lane] == value) same |= 1u << lane;
  }
  return same;
}

unsigned match_all(unsigned mask, std::uint64_t value) noexcept {
  const HalfWarp half = meet(WarpMeeting::match, mask, value, BANKWISE_CALLER);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (half.has(lane) && half.values[lane] != value) return 0;
  }
  return half.came;
}

namespace {

template <class T>
T reduce_lanes(Reduction how, unsigned mask, T value, const void* caller) {
  const HalfWarp half = meet(WarpMeeting::reduce, mask, unsigned(value), caller);
  bool first = true;
  T result{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!half.has(lane)) continue;
    const T operand = T(unsigned(half.values[lane]));
    switch (first ? Reduction::bit_or : how) {
      case Reduction::add:
        result = T(unsigned(result) + unsigned(operand));
        break;
      case Reduction::minimum:
        result = std::min<T>(result, operand);
        break;
      case Reduction::maximum:
        result = std::max<T>(result, operand);
        break;
      case Reduction::bit_and:
        result &= operand;
        break;
      case Reduction::bit_or:
        result |= operand;
        break;
      case Reduction::bit_xor:
        result ^= operand;
        break;
    }
    first = false;
  }
  return result;
}

}  // namespace

unsigned reduce(Reduction how, unsigned mask, unsigned value) noexcept {
  return reduce_lanes(how, mask, value, BANKWISE_CALLER);
}
int reduce(Reduction how, unsigned mask, int value) noexcept { return reduce_lanes(how, mask, value, BANKWISE_CALLER); }

unsigned active_mask() noexcept { return unsigned(active_lanes(BANKWISE_CALLER) >> first_of_half()); }

void synchronize_grid() noexcept { meet_grid(BANKWISE_CALLER); }

bool grid_is_cooperative() noexcept { return is_cooperative(); }

unsigned lane_of_rank(unsigned mask, unsigned rank) noexcept {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) != 0 && rank-- == 0) return lane;
  }
  return lane();
}

// --- atomic operations ---

namespace {

/// Whether NVIDIA's shared memory has no such instruction: nvcc compiles it to a loop of compare-and-swaps.
template <class T>
constexpr bool is_loop(std::string_view name) {
  return name != "Exch" && (std::is_floating_point_v<T> || sizeof(T) == 8);
}

template <class T, class Change>
T change(T* address, Change changed) {
  T old;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  for (;;) {
    T now = changed(old);
    if (__atomic_compare_exchange(address, &old, &now, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return old;
  }
}

/// A sum of integers that wraps.
template <class T>
T sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
  } else {
    return a + b;
  }
}

// The new value, from the old value and the operand.
constexpr auto new_Add = [](auto old, auto value) { return sum(old, value); };
constexpr auto new_Sub = [](auto old, auto value) { return sum(old, decltype(value)(0u - unsigned(value))); };
constexpr auto new_Exch = [](auto, auto value) { return value; };
constexpr auto new_Min = [](auto old, auto value) { return std::min(old, value); };
constexpr auto new_Max = [](auto old, auto value) { return std::max(old, value); };
constexpr auto new_Inc = [](unsigned old, unsigned limit) { return old >= limit ? 0 : old + 1; };
constexpr auto new_Dec = [](unsigned old, unsigned limit) { return old == 0 || old > limit ? limit : old - 1; };
constexpr auto new_And = [](auto old, auto value) { return old & value; };
constexpr auto new_Or = [](auto old, auto value) { return old | value; };
constexpr auto new_Xor = [](auto old, auto value) { return old ^ value; };

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define BANKWISE_DEFINE(name, type)                                                                        \
  type atomic##name(type* address, type value) noexcept {                                                  \
    before_atomic(banks::Operation::atomic, is_loop<type>(#name), address, sizeof(type), BANKWISE_CALLER); \
    return change(address, [=](type old) { return new_##name(old, value); });                              \
  }
BANKWISE_ATOMICS(BANKWISE_DEFINE)
#undef BANKWISE_DEFINE

#define BANKWISE_DEFINE(type)                                                                         \
  type atomicCAS(type* address, type expected, type value) noexcept {                                 \
    before_atomic(banks::Operation::atomic_cas, false, address, sizeof(type), BANKWISE_CALLER);       \
    __atomic_compare_exchange(address, &expected, &value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    return expected;                                                                                  \
  }
BANKWISE_COMPARE_AND_SWAP(BANKWISE_DEFINE)
#undef BANKWISE_DEFINE
// NOLINTEND(bugprone-macro-parentheses)

Added add(unsigned* address, unsigned value, bool is_one) noexcept {
  const auto operation = is_one ? banks::Operation::atomic_inc : banks::Operation::atomic;
  const std::uint64_t number = before_atomic(operation, false, address, sizeof value, BANKWISE_CALLER);
  return {__atomic_fetch_add(address, value, __ATOMIC_SEQ_CST), number};
}

std::uint64_t used(std::uint64_t old, std::uint64_t before) noexcept {
  if (before != 0) result_used(before);
  return old;
}

[[noreturn]] void fail(const char* condition, const char* file, unsigned line) noexcept {
  char why[512];
  std::snprintf(why, sizeof why, "assertion failed: %s (%s:%u)", condition, file, line);
  if (on_lane()) emulator::trap(why, BANKWISE_CALLER);
  std::fprintf(stderr, "%s\n", why);
  std::abort();
}

// --- Shared memory, asynchronous copies, barrier objects ---

unsigned shared_address(const void* address) noexcept { return to_shared_address(address); }
void* generic_address(unsigned address) noexcept { return from_shared_address(address); }
bool is_in_shared(const void* address) noexcept { return is_shared(address); }

void copy_async(void* to, const void* from, unsigned bytes, unsigned zeros) noexcept {
  start_copy(to, from, bytes, bytes - std::min(zeros, bytes), BANKWISE_CALLER);
}
void commit_async() noexcept { commit_copies(); }
void wait_async(unsigned open) noexcept { wait_for_copies(open, BANKWISE_CALLER); }
void wait_all_async() noexcept { wait_for_all_copies(BANKWISE_CALLER); }

void init_barrier(void* object, unsigned expected) noexcept { init_rounds(object, expected, BANKWISE_CALLER); }
std::uint64_t arrive_at_barrier(void* object, unsigned arrivals, unsigned drops) noexcept {
  // Copies that are bound to the barrier complete before its round does.
  Parts parts;
  wait_for_all_copies(BANKWISE_CALLER);
  parts.next();
  return arrive(object, arrivals, drops, BANKWISE_CALLER);
}
void wait_at_barrier(void* object, std::uint64_t round) noexcept { wait_for_round(object, round, BANKWISE_CALLER); }
bool test_barrier(void* object, std::uint64_t round) noexcept { return is_round_done(object, round, BANKWISE_CALLER); }
void wait_at_barrier_parity(void* object, bool parity) noexcept {
  const std::uint64_t done = rounds_done(object, BANKWISE_CALLER);
  if (((done & 1) != 0) == parity) wait_for_round(object, done, BANKWISE_CALLER);
}

}  // namespace bankwise::emulator::device
