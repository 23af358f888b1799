// SPDX-License-Identifier: MIT
//
// Integers of 8 and 16 bits, several in a word: __vadd4, __vmaxs2 ….
#pragma once

#include <bankwise/emulator/cuda/qualifiers.hpp>

// X(name after __v): an operation on two words, for 2 and for 4 numbers. The suffixes as in CUDA: ss and us for results
// that stay within the signed or unsigned range, s and u for signed and unsigned numbers.
// clang-format off
#define BANKWISE_SIMD(X) \
  X(add) X(addss) X(addus) X(sub) X(subss) X(subus) X(avgs) X(avgu) X(haddu) X(maxs) X(maxu) X(mins) X(minu) \
  X(absdiffs) X(absdiffu) X(cmpeq) X(cmpne) X(cmpges) X(cmpgeu) X(cmpgts) X(cmpgtu) X(cmples) X(cmpleu) X(cmplts) \
  X(cmpltu)
// clang-format on

namespace bankwise::emulator::device {

#define BANKWISE_NAME(name) name,
enum class Simd { BANKWISE_SIMD(BANKWISE_NAME) };
#undef BANKWISE_NAME

/// `count` is 2 or 4. Comparisons give all bits or none.
[[gnu::const]] unsigned simd(Simd operation, unsigned count, unsigned a, unsigned b) noexcept;
/// Sum of the numbers in a word.
[[gnu::const]] unsigned simd_sum(unsigned count, unsigned a) noexcept;

}  // namespace bankwise::emulator::device

namespace bankwise::emulator::cuda {

#define BANKWISE_DEFINE(name)                                                                                         \
  BANKWISE_DEVICE unsigned __v##name##2(unsigned a, unsigned b) { return device::simd(device::Simd::name, 2, a, b); } \
  BANKWISE_DEVICE unsigned __v##name##4(unsigned a, unsigned b) { return device::simd(device::Simd::name, 4, a, b); }
BANKWISE_SIMD(BANKWISE_DEFINE)
#undef BANKWISE_DEFINE
#undef BANKWISE_SIMD

/// 1 in place of all bits.
#define BANKWISE_DEFINE(how)                                                                                     \
  BANKWISE_DEVICE unsigned __vset##how##2(unsigned a, unsigned b) { return __vcmp##how##2(a, b) & 0x00010001u; } \
  BANKWISE_DEVICE unsigned __vset##how##4(unsigned a, unsigned b) { return __vcmp##how##4(a, b) & 0x01010101u; }
// clang-format off
BANKWISE_DEFINE(eq) BANKWISE_DEFINE(ne) BANKWISE_DEFINE(ges) BANKWISE_DEFINE(geu) BANKWISE_DEFINE(gts)
BANKWISE_DEFINE(gtu) BANKWISE_DEFINE(les) BANKWISE_DEFINE(leu) BANKWISE_DEFINE(lts) BANKWISE_DEFINE(ltu)
#undef BANKWISE_DEFINE
// clang-format on

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
        BANKWISE_DEFINE(2) BANKWISE_DEFINE(4)
#undef BANKWISE_DEFINE

}  // namespace bankwise::emulator::cuda
