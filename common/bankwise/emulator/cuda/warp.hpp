// Indices; barriers, fences and clocks; warp intrinsics: shuffles, votes, matches, reductions.
//
// CUDA's masks have 32 bits. In a warp of 64 lanes they refer to the caller's half, so a kernel computes the same
// result as on 32 lanes; in a warp of fewer than 32 lanes the bits beyond it are ignored. HIP's masks have 64 bits, and
// in a HIP program BANKWISE_WAVE is the number of lanes.
#pragma once

#include <time.h>

#include <cstdint>

#include <bankwise/emulator/cuda/vector_types.hpp>

namespace bankwise::emulator::device {

// --- threadIdx, blockIdx, blockDim, gridDim ---

// One function per number. A lane has each number in a register, so the compiler should call each function once for all
// uses. They are `const` although they read thread-local memory: within a kernel's call, the only code of a lane that
// the compiler sees, their values do not change, because a lane stays on the host thread that started it.
#define BANKWISE_INDEX(name)                   \
  [[gnu::const]] unsigned name##_x() noexcept; \
  [[gnu::const]] unsigned name##_y() noexcept; \
  [[gnu::const]] unsigned name##_z() noexcept;
BANKWISE_INDEX(thread)
BANKWISE_INDEX(block)
BANKWISE_INDEX(block_size)
BANKWISE_INDEX(grid)
#undef BANKWISE_INDEX

/// The rank of the thread in its block.
[[gnu::const]] unsigned rank() noexcept;

// --- barriers and warps ---

// Not inlined, because the emulator reads the return address: a line of the kernel.

/// Waits for the block. Returns the number of lanes with `says_yes`.
unsigned synchronize_block(bool says_yes) noexcept;
void fence() noexcept;

enum class Shuffle { from, up, down, exclusive_or };

using HalfMask = unsigned;            ///< of CUDA
using WarpMask = unsigned long long;  ///< of HIP

/// The lanes that took part, and those of them that voted yes.
template <class Mask>
struct Votes {
  Mask came, yes;
};
enum class Reduction { add, minimum, maximum, bit_and, bit_or, bit_xor };

// synchronize_warp() waits for the lanes that `mask` names. shuffle() returns the value of another lane; `argument` and
// `width` as in __shfl_..._sync. A lane that does not take part has the value 0xCDCDCDCDCDCDCDCD in CUDA, where it is
// undefined, and 0 in HIP. match_any() returns the lanes that brought the same value, and match_all() those that took
// part, if all brought the same value, otherwise 0. lane_of_rank() is the lane of the given rank among those of `mask`;
// the caller itself if there is none.
#define BANKWISE_WARP_FUNCTIONS(Mask)                                                                        \
  void synchronize_warp(Mask mask) noexcept;                                                                 \
  std::uint64_t shuffle(Shuffle how, Mask mask, std::uint64_t value, unsigned argument, int width) noexcept; \
  Votes<Mask> vote(Mask mask, bool says_yes) noexcept;                                                       \
  Mask match_any(Mask mask, std::uint64_t value) noexcept;                                                   \
  Mask match_all(Mask mask, std::uint64_t value) noexcept;                                                   \
  unsigned reduce(Reduction how, Mask mask, unsigned value) noexcept;                                        \
  int reduce(Reduction how, Mask mask, int value) noexcept;                                                  \
  unsigned lane_of_rank(Mask mask, unsigned rank) noexcept;
BANKWISE_WARP_FUNCTIONS(HalfMask)
BANKWISE_WARP_FUNCTIONS(WarpMask)
#undef BANKWISE_WARP_FUNCTIONS

/// The caller's lane number in its warp, or in its half of 64 lanes.
[[gnu::const]] unsigned lane() noexcept;
[[gnu::const]] unsigned lane_of_warp() noexcept;
/// The lanes that execute the call together; of the caller's half.
HalfMask active_mask() noexcept;
WarpMask active_mask_of_warp() noexcept;

// What the program's language has.
#ifdef BANKWISE_WAVE
using LaneMask = WarpMask;
inline constexpr int lanes_of_warp = BANKWISE_WAVE;
BANKWISE_FUNCTION(unsigned, own_lane, (), lane_of_warp())
BANKWISE_FUNCTION(LaneMask, own_active_mask, (), active_mask_of_warp())
#else
using LaneMask = HalfMask;
inline constexpr int lanes_of_warp = 32;
BANKWISE_FUNCTION(unsigned, own_lane, (), lane())
BANKWISE_FUNCTION(LaneMask, own_active_mask, (), active_mask())
#endif

}  // namespace bankwise::emulator::device

namespace bankwise::emulator::cuda {

BANKWISE_FUNCTION(uint3, thread_index, (), {device::thread_x(), device::thread_y(), device::thread_z()})
BANKWISE_FUNCTION(uint3, block_index, (), {device::block_x(), device::block_y(), device::block_z()})
BANKWISE_FUNCTION(dim3, block_dimensions, (), {device::block_size_x(), device::block_size_y(), device::block_size_z()})
BANKWISE_FUNCTION(dim3, grid_dimensions, (), {device::grid_x(), device::grid_y(), device::grid_z()})

// Macros, because one variable cannot have a different value in every lane.
#define threadIdx (::bankwise::emulator::cuda::thread_index())
#define blockIdx (::bankwise::emulator::cuda::block_index())
#define blockDim (::bankwise::emulator::cuda::block_dimensions())
#define gridDim (::bankwise::emulator::cuda::grid_dimensions())

/// In CUDA always 32, whatever Launch::warp is: its masks have 32 bits, so its warp intrinsics act on 32 lanes,
/// and kernels are written for that. Wider warps change the cost of accesses, not the result of a kernel.
inline constexpr int warpSize = device::lanes_of_warp;

BANKWISE_DEVICE void __syncthreads() { device::synchronize_block(false); }
BANKWISE_FUNCTION(int, __syncthreads_count, (int predicate), int(device::synchronize_block(predicate != 0)))
BANKWISE_FUNCTION(int, __syncthreads_and, (int predicate), device::synchronize_block(predicate == 0) == 0)
BANKWISE_FUNCTION(int, __syncthreads_or, (int predicate), device::synchronize_block(predicate != 0) != 0)
BANKWISE_DEVICE void __syncwarp(device::LaneMask mask = ~device::LaneMask{0}) { device::synchronize_warp(mask); }

// Host memory keeps the order in which lanes access it; the compiler keeps it across the call, too.
BANKWISE_DEVICE void __threadfence_block() { device::fence(); }
BANKWISE_DEVICE void __threadfence() { device::fence(); }
BANKWISE_DEVICE void __threadfence_system() { device::fence(); }

/// Other lanes run between any two steps.
BANKWISE_DEVICE void __nanosleep(unsigned) {}

long long clock64() noexcept;
[[noreturn]] void __trap() noexcept;

// Overloads, not templates: smaller integers are promoted to int.
#define BANKWISE_SHUFFLE(type, name, Argument, how)                                                       \
  BANKWISE_DEVICE type name(device::LaneMask mask, type value, Argument argument, int width = warpSize) { \
    using namespace device;                                                                               \
    return from_bits<type>(shuffle(Shuffle::how, mask, to_bits(value), unsigned(argument), width));       \
  }
#define BANKWISE_SHUFFLES(type)                            \
  BANKWISE_SHUFFLE(type, __shfl_sync, int, from)           \
  BANKWISE_SHUFFLE(type, __shfl_up_sync, unsigned, up)     \
  BANKWISE_SHUFFLE(type, __shfl_down_sync, unsigned, down) \
  BANKWISE_SHUFFLE(type, __shfl_xor_sync, int, exclusive_or)
#define BANKWISE_MATCHES(type)                                                                           \
  BANKWISE_DEVICE device::LaneMask __match_any_sync(device::LaneMask mask, type value) {                 \
    return device::match_any(mask, device::to_bits(value));                                              \
  }                                                                                                      \
  BANKWISE_DEVICE device::LaneMask __match_all_sync(device::LaneMask mask, type value, int* predicate) { \
    const device::LaneMask lanes = device::match_all(mask, device::to_bits(value));                      \
    *predicate = lanes != 0;                                                                             \
    return lanes;                                                                                        \
  }
// clang-format off
BANKWISE_SHUFFLES(int) BANKWISE_MATCHES(int)
BANKWISE_SHUFFLES(unsigned) BANKWISE_MATCHES(unsigned)
BANKWISE_SHUFFLES(long) BANKWISE_MATCHES(long)
BANKWISE_SHUFFLES(unsigned long) BANKWISE_MATCHES(unsigned long)
BANKWISE_SHUFFLES(long long) BANKWISE_MATCHES(long long)
BANKWISE_SHUFFLES(unsigned long long) BANKWISE_MATCHES(unsigned long long)
BANKWISE_SHUFFLES(float) BANKWISE_MATCHES(float)
BANKWISE_SHUFFLES(double) BANKWISE_MATCHES(double)
#undef BANKWISE_MATCHES  // BANKWISE_SHUFFLES is for small floats, too
    // clang-format on

    BANKWISE_DEVICE int __all_sync(device::LaneMask mask, int predicate) {
  const auto votes = device::vote(mask, predicate != 0);
  return votes.yes == votes.came;
}
BANKWISE_FUNCTION(int, __any_sync, (device::LaneMask mask, int predicate), device::vote(mask, predicate != 0).yes != 0)
BANKWISE_DEVICE int __uni_sync(device::LaneMask mask, int predicate) {
  const auto votes = device::vote(mask, predicate != 0);
  return (votes.yes == votes.came) | (votes.yes == 0);
}
BANKWISE_FUNCTION(device::LaneMask, __ballot_sync, (device::LaneMask mask, int predicate),
                  device::vote(mask, predicate != 0).yes)
BANKWISE_FUNCTION(device::LaneMask, __activemask, (), device::own_active_mask())

#define BANKWISE_REDUCTION(name, how, type)                                        \
  BANKWISE_DEVICE type __reduce_##name##_sync(device::LaneMask mask, type value) { \
    return device::reduce(device::Reduction::how, mask, value);                    \
  }
BANKWISE_REDUCTION(add, add, unsigned)
BANKWISE_REDUCTION(add, add, int)
BANKWISE_REDUCTION(min, minimum, unsigned)
BANKWISE_REDUCTION(min, minimum, int)
BANKWISE_REDUCTION(max, maximum, unsigned)
BANKWISE_REDUCTION(max, maximum, int)
BANKWISE_REDUCTION(and, bit_and, unsigned)
BANKWISE_REDUCTION(or, bit_or, unsigned)
BANKWISE_REDUCTION(xor, bit_xor, unsigned)
#undef BANKWISE_REDUCTION

#ifdef BANKWISE_WHOLE_PROGRAM
// Without a mask, which CUDA has for compute capabilities below 7.0: of the lanes that execute the call together.
#define BANKWISE_ACTIVE_SHUFFLE(name, Argument)                               \
  template <class T>                                                          \
  BANKWISE_DEVICE auto name(T value, Argument argument, int width = warpSize) \
      ->decltype(name##_sync(device::LaneMask{}, value, argument, width)) {   \
    return name##_sync(__activemask(), value, argument, width);               \
  }
BANKWISE_ACTIVE_SHUFFLE(__shfl, int)
BANKWISE_ACTIVE_SHUFFLE(__shfl_up, unsigned)
BANKWISE_ACTIVE_SHUFFLE(__shfl_down, unsigned)
BANKWISE_ACTIVE_SHUFFLE(__shfl_xor, int)
#undef BANKWISE_ACTIVE_SHUFFLE

BANKWISE_FUNCTION(int, __all, (int predicate), __all_sync(__activemask(), predicate))
BANKWISE_FUNCTION(int, __any, (int predicate), __any_sync(__activemask(), predicate))
BANKWISE_FUNCTION(device::LaneMask, __ballot, (int predicate), __ballot_sync(__activemask(), predicate))
#endif

}  // namespace bankwise::emulator::cuda

// C has a function with this name and type, so this one gets another symbol.
extern "C" clock_t clock() noexcept __asm__("bankwise_emulator_clock");
