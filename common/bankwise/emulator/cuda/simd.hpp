// SPDX-License-Identifier: MIT
//
// Integers of 8 and 16 bits, several in a word: __vadd4, __vmaxs2 ….
#pragma once

#include <bankwise/emulator/cuda/qualifiers.hpp>

// X(name after __v, operation): of two words, for 2 and for 4 numbers.
// clang-format off
#define BANKWISE_SIMD(X) \
  X(add, add) \
  X(addss, add_saturated_signed) \
  X(addus, add_saturated) \
  X(sub, subtract) \
  X(subss, subtract_saturated_signed) \
  X(subus, subtract_saturated) \
  X(avgs, average_signed) \
  X(avgu, average) \
  X(haddu, half_sum) \
  X(maxs, maximum_signed) \
  X(maxu, maximum) \
  X(mins, minimum_signed) \
  X(minu, minimum) \
  X(absdiffs, difference_signed) \
  X(absdiffu, difference) \
  X(cmpeq, equal) \
  X(cmpne, unequal) \
  X(cmpges, not_less_signed) \
  X(cmpgeu, not_less) \
  X(cmpgts, greater_signed) \
  X(cmpgtu, greater) \
  X(cmples, not_greater_signed) \
  X(cmpleu, not_greater) \
  X(cmplts, less_signed) \
  X(cmpltu, less)
// clang-format on

namespace bankwise::emulator::device {

#define BANKWISE_NAME(name, operation) operation,
enum class Simd { BANKWISE_SIMD(BANKWISE_NAME) };
#undef BANKWISE_NAME

/// `count` is 2 or 4. Comparisons give all bits or none.
[[gnu::const]] unsigned simd(Simd operation, unsigned count, unsigned a, unsigned b) noexcept;
/// Sum of the numbers in a word.
[[gnu::const]] unsigned simd_sum(unsigned count, unsigned a) noexcept;

}  // namespace bankwise::emulator::device

namespace bankwise::emulator::cuda {

#define BANKWISE_DEFINE(name, operation)                          \
  BANKWISE_DEVICE unsigned __v##name##2(unsigned a, unsigned b) { \
    return device::simd(device::Simd::operation, 2, a, b);        \
  }                                                               \
  BANKWISE_DEVICE unsigned __v##name##4(unsigned a, unsigned b) { \
    return device::simd(device::Simd::operation, 4, a, b);        \
  }
BANKWISE_SIMD(BANKWISE_DEFINE)
#undef BANKWISE_DEFINE
#undef BANKWISE_SIMD

/// 1 in place of all bits.
#define BANKWISE_DEFINE(how)                                                                                     \
  BANKWISE_DEVICE unsigned __vset##how##2(unsigned a, unsigned b) { return __vcmp##how##2(a, b) & 0x00010001u; } \
  BANKWISE_DEVICE unsigned __vset##how##4(unsigned a, unsigned b) { return __vcmp##how##4(a, b) & 0x01010101u; }
BANKWISE_DEFINE(eq)
BANKWISE_DEFINE(ne)
BANKWISE_DEFINE(ges)
BANKWISE_DEFINE(geu)
BANKWISE_DEFINE(gts)
BANKWISE_DEFINE(gtu)
BANKWISE_DEFINE(les)
BANKWISE_DEFINE(leu)
BANKWISE_DEFINE(lts)
BANKWISE_DEFINE(ltu)
#undef BANKWISE_DEFINE

#define BANKWISE_DEFINE(count)                                                                           \
  BANKWISE_DEVICE unsigned __vneg##count(unsigned a) { return __vsub##count(0, a); }                     \
  BANKWISE_DEVICE unsigned __vnegss##count(unsigned a) { return __vsubss##count(0, a); }                 \
  BANKWISE_DEVICE unsigned __vabs##count(unsigned a) { return __vabsdiffs##count(a, 0); }                \
  BANKWISE_DEVICE unsigned __vabsss##count(unsigned a) { return __vmaxs##count(a, __vnegss##count(a)); } \
  BANKWISE_DEVICE unsigned __vsads##count(unsigned a, unsigned b) {                                      \
    return device::simd_sum(count, __vabsdiffs##count(a, b));                                            \
  }                                                                                                      \
  BANKWISE_DEVICE unsigned __vsadu##count(unsigned a, unsigned b) {                                      \
    return device::simd_sum(count, __vabsdiffu##count(a, b));                                            \
  }
BANKWISE_DEFINE(2)
BANKWISE_DEFINE(4)
#undef BANKWISE_DEFINE

}  // namespace bankwise::emulator::cuda
