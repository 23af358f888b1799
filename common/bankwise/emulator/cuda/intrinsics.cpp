// CUDA's functions that need all lanes, or memory. Compiled without instrumentation: none of this counts as work of the
// kernel. The kernel calls these functions directly, so each knows its return address in the kernel.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <type_traits>

#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/cuda/barrier.hpp>
#include <bankwise/emulator/cuda/cooperative_groups.hpp>
#include <bankwise/emulator/cuda/half_warp.hpp>
#include <bankwise/emulator/cuda/memory.hpp>
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

namespace {

/// Copies or, without `from`, sets shared memory byte by byte, as nvcc's code for a variable length does; false if none
/// of it is shared. `backwards`: from the last byte to the first.
bool access_bytes(char* to, const char* from, char value, std::size_t bytes, bool backwards, const void* caller) {
  using namespace bankwise::emulator;
  const auto touches = [&](const char* begin) { return is_shared(begin) || is_shared(begin + bytes - 1); };
  stay_in_order();
  if (bytes == 0 || !on_lane() || !(touches(to) || (from != nullptr && touches(from)))) return false;
  Parts parts;
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::size_t at = backwards ? bytes - 1 - i : i;
    if (from != nullptr) {
      before_access(bankwise::banks::Operation::load, from + at, 1, caller);
      parts.next();
      value = from[at];
    }
    before_access(bankwise::banks::Operation::store, to + at, 1, caller);
    parts.next();
    to[at] = value;
  }
  return true;
}

}  // namespace

extern "C" {

void* bankwise_emulator_memmove(void* to, const void* from, std::size_t bytes) noexcept {
  auto* const target = static_cast<char*>(to);
  const auto* const source = static_cast<const char*>(from);
  if (access_bytes(target, source, 0, bytes, source < target, BANKWISE_CALLER)) return to;
  return std::memmove(to, from, bytes);
}
void* bankwise_emulator_memcpy(void* to, const void* from, std::size_t bytes) noexcept {
  if (access_bytes(static_cast<char*>(to), static_cast<const char*>(from), 0, bytes, false, BANKWISE_CALLER)) return to;
  return std::memmove(to, from, bytes);
}
void* bankwise_emulator_memset(void* to, int value, std::size_t bytes) noexcept {
  if (access_bytes(static_cast<char*>(to), nullptr, char(value), bytes, false, BANKWISE_CALLER)) return to;
  return std::memset(to, value, bytes);
}

}  // extern "C"

namespace bankwise::emulator::cuda {

long long clock64() noexcept { return steps(BANKWISE_CALLER); }
void __trap() noexcept { trap("__trap()", BANKWISE_CALLER); }

}  // namespace bankwise::emulator::cuda

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
unsigned lane_of_warp() noexcept { return this_lane().lane; }

unsigned synchronize_block(bool says_yes) noexcept { return meet_block(says_yes, BANKWISE_CALLER); }

void fence() noexcept { emulator::fence(); }

namespace {

template <class Mask>
std::uint64_t shuffled(Shuffle how, Mask mask, std::uint64_t value, unsigned argument, int width, const void* caller) {
  constexpr unsigned all = lanes_of_mask<Mask> - 1;
  const WarpPart<Mask> part = meet(WarpMeeting::shuffle, mask, value, caller);
  const unsigned control = (lanes_of_mask<Mask> - unsigned(width)) << 8 | (how == Shuffle::up ? 0 : all);
  const unsigned source = source_of(how, this_lane().lane & all, argument, control, all).lane;
  if (part.has(source)) return part.values[source];
  return all == 31 ? 0xCDCDCDCDCDCDCDCD : 0;  // AMD's ds_bpermute gives 0
}

template <class Mask>
Votes<Mask> voted(Mask mask, bool says_yes, const void* caller) {
  const WarpPart<Mask> part = meet(WarpMeeting::vote, mask, says_yes, caller);
  return {part.came, part.lanes_with([](std::uint64_t vote) { return vote != 0; })};
}

template <class Mask>
Mask lane_with_rank(Mask mask, unsigned rank) {
  for (unsigned lane = 0; lane < lanes_of_mask<Mask>; ++lane) {
    if ((mask >> lane & 1) != 0 && rank-- == 0) return lane;
  }
  return this_lane().lane % lanes_of_mask<Mask>;
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define BANKWISE_DEFINE(Mask)                                                                                       \
  void synchronize_warp(Mask mask) noexcept { meet(WarpMeeting::sync, mask, 0, BANKWISE_CALLER); }                  \
  std::uint64_t shuffle(Shuffle how, Mask mask, std::uint64_t value, unsigned argument, int width) noexcept {       \
    return shuffled(how, mask, value, argument, width, BANKWISE_CALLER);                                            \
  }                                                                                                                 \
  Votes<Mask> vote(Mask mask, bool says_yes) noexcept { return voted(mask, says_yes, BANKWISE_CALLER); }            \
  Mask match_any(Mask mask, std::uint64_t value) noexcept {                                                         \
    return meet(WarpMeeting::match, mask, value, BANKWISE_CALLER).lanes_with([&](auto it) { return it == value; }); \
  }                                                                                                                 \
  Mask match_all(Mask mask, std::uint64_t value) noexcept {                                                         \
    const auto part = meet(WarpMeeting::match, mask, value, BANKWISE_CALLER);                                       \
    return part.lanes_with([&](auto other) { return other != value; }) == 0 ? part.came : 0;                        \
  }                                                                                                                 \
  unsigned reduce(Reduction how, Mask mask, unsigned value) noexcept {                                              \
    return meet(WarpMeeting::reduce, mask, value, BANKWISE_CALLER).template reduced<unsigned>(how);                 \
  }                                                                                                                 \
  int reduce(Reduction how, Mask mask, int value) noexcept {                                                        \
    return meet(WarpMeeting::reduce, mask, unsigned(value), BANKWISE_CALLER).template reduced<int>(how);            \
  }                                                                                                                 \
  unsigned lane_of_rank(Mask mask, unsigned rank) noexcept { return unsigned(lane_with_rank(mask, rank)); }
BANKWISE_DEFINE(HalfMask)
BANKWISE_DEFINE(WarpMask)
#undef BANKWISE_DEFINE
// NOLINTEND(bugprone-macro-parentheses)

HalfMask active_mask() noexcept { return HalfMask(active_lanes(BANKWISE_CALLER) >> (this_lane().lane & 32)); }
WarpMask active_mask_of_warp() noexcept { return active_lanes(BANKWISE_CALLER); }

void synchronize_grid() noexcept { meet_grid(BANKWISE_CALLER); }

bool grid_is_cooperative() noexcept { return is_cooperative(); }

// --- atomic operations ---

namespace {

/// Whether NVIDIA's shared memory has no such instruction: nvcc compiles it to a loop of compare-and-swaps.
template <class T>
constexpr bool is_loop(std::string_view name) {
  return name != "Exch" && (std::is_floating_point_v<T> || sizeof(T) == 8);
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
    return change_atomically(address, [=](type old) { return new_##name(old, value); });                   \
  }
BANKWISE_ATOMICS(BANKWISE_DEFINE)
BANKWISE_ATOMICS_OF_HIP(BANKWISE_DEFINE)
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
  const bool past_l1 = bytes == 16;  // nvcc's headers choose cp.async.cg for 16 bytes
  start_copy(to, from, bytes, bytes - std::min(zeros, bytes), past_l1, BANKWISE_CALLER);
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
