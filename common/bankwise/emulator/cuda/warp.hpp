// SPDX-License-Identifier: MIT
//
// Warp intrinsics: shuffles, votes, matches, reductions.
//
// CUDA's masks have 32 bits. In a warp of 64 lanes they refer to the caller's half, so a kernel computes the same
// result as on 32 lanes; in a warp of fewer than 32 lanes the bits beyond it are ignored.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bankwise/emulator/cuda/synchronization.hpp>

namespace bankwise::emulator::device {

enum class Shuffle { from, up, down, exclusive_or };

/// The value of another lane. `argument` and `width` as in __shfl_..._sync. A lane that does not take part has the
/// value 0xCDCDCDCDCDCDCDCD; on a GPU it is undefined.
std::uint64_t shuffle(Shuffle how, unsigned mask, std::uint64_t value, unsigned argument, int width) noexcept;

/// The lanes that took part, and those of them that voted yes.
struct Votes {
  unsigned came, yes;
};
Votes vote(unsigned mask, bool says_yes) noexcept;

/// The lanes that brought the same value.
unsigned match_any(unsigned mask, std::uint64_t value) noexcept;
/// The lanes that took part, if all brought the same value, otherwise 0.
unsigned match_all(unsigned mask, std::uint64_t value) noexcept;

enum class Reduction { add, minimum, maximum, bit_and, bit_or, bit_xor };
unsigned reduce(Reduction how, unsigned mask, unsigned value) noexcept;
int reduce(Reduction how, unsigned mask, int value) noexcept;

/// The caller's lane number in its warp, or in its half of 64 lanes.
[[gnu::const]] unsigned lane() noexcept;
/// active_lanes() of the caller's half.
unsigned active_mask() noexcept;

/// Unsigned integers of 1, 2, 4 and 8 bytes.
template <std::size_t bytes>
struct BitsOfSize;
template <>
struct BitsOfSize<1> {
  using Type = std::uint8_t;
};
template <>
struct BitsOfSize<2> {
  using Type = std::uint16_t;
};
template <>
struct BitsOfSize<4> {
  using Type = std::uint32_t;
};
template <>
struct BitsOfSize<8> {
  using Type = std::uint64_t;
};
template <class T>
using BitsOf = BitsOfSize<sizeof(T)>;

template <class T>
BANKWISE_DEVICE std::uint64_t to_bits(T value) {
  return __builtin_bit_cast(typename BitsOf<T>::Type, value);
}
template <class T>
BANKWISE_DEVICE T from_bits(std::uint64_t word) {
  return __builtin_bit_cast(T, typename BitsOf<T>::Type(word));
}

}  // namespace bankwise::emulator::device

namespace bankwise::emulator::cuda {

// Overloads, not templates: smaller integers are promoted to int.
#define BANKWISE_SHUFFLES(type)                                                                               \
  BANKWISE_DEVICE type __shfl_sync(unsigned mask, type value, int source, int width = 32) {                   \
    using namespace device;                                                                                   \
    return from_bits<type>(shuffle(Shuffle::from, mask, to_bits(value), unsigned(source), width));            \
  }                                                                                                           \
  BANKWISE_DEVICE type __shfl_up_sync(unsigned mask, type value, unsigned delta, int width = 32) {            \
    using namespace device;                                                                                   \
    return from_bits<type>(shuffle(Shuffle::up, mask, to_bits(value), delta, width));                         \
  }                                                                                                           \
  BANKWISE_DEVICE type __shfl_down_sync(unsigned mask, type value, unsigned delta, int width = 32) {          \
    using namespace device;                                                                                   \
    return from_bits<type>(shuffle(Shuffle::down, mask, to_bits(value), delta, width));                       \
  }                                                                                                           \
  BANKWISE_DEVICE type __shfl_xor_sync(unsigned mask, type value, int lane_mask, int width = 32) {            \
    using namespace device;                                                                                   \
    return from_bits<type>(shuffle(Shuffle::exclusive_or, mask, to_bits(value), unsigned(lane_mask), width)); \
  }
#define BANKWISE_MATCHES(type)                                                           \
  BANKWISE_DEVICE unsigned __match_any_sync(unsigned mask, type value) {                 \
    return device::match_any(mask, device::to_bits(value));                              \
  }                                                                                      \
  BANKWISE_DEVICE unsigned __match_all_sync(unsigned mask, type value, int* predicate) { \
    const unsigned lanes = device::match_all(mask, device::to_bits(value));              \
    *predicate = lanes != 0;                                                             \
    return lanes;                                                                        \
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

    BANKWISE_DEVICE int __all_sync(unsigned mask, int predicate) {
  const auto votes = device::vote(mask, predicate != 0);
  return votes.yes == votes.came;
}
BANKWISE_FUNCTION(int, __any_sync, (unsigned mask, int predicate), device::vote(mask, predicate != 0).yes != 0)
BANKWISE_DEVICE int __uni_sync(unsigned mask, int predicate) {
  const auto votes = device::vote(mask, predicate != 0);
  return (votes.yes == votes.came) | (votes.yes == 0);
}
BANKWISE_FUNCTION(unsigned, __ballot_sync, (unsigned mask, int predicate), device::vote(mask, predicate != 0).yes)
BANKWISE_FUNCTION(unsigned, __activemask, (), device::active_mask())

#define BANKWISE_REDUCTION(name, how, type)                                \
  BANKWISE_DEVICE type __reduce_##name##_sync(unsigned mask, type value) { \
    return device::reduce(device::Reduction::how, mask, value);            \
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
#define BANKWISE_SHUFFLE(name, Argument)                                \
  template <class T>                                                    \
  BANKWISE_DEVICE auto name(T value, Argument argument, int width = 32) \
      ->decltype(name##_sync(0U, value, argument, width)) {             \
    return name##_sync(__activemask(), value, argument, width);         \
  }
BANKWISE_SHUFFLE(__shfl, int)
BANKWISE_SHUFFLE(__shfl_up, unsigned)
BANKWISE_SHUFFLE(__shfl_down, unsigned)
BANKWISE_SHUFFLE(__shfl_xor, int)
#undef BANKWISE_SHUFFLE

BANKWISE_FUNCTION(int, __all, (int predicate), __all_sync(__activemask(), predicate))
BANKWISE_FUNCTION(int, __any, (int predicate), __any_sync(__activemask(), predicate))
BANKWISE_FUNCTION(unsigned, __ballot, (int predicate), __ballot_sync(__activemask(), predicate))
#endif

}  // namespace bankwise::emulator::cuda
