// Functions of CUDA that the C library lacks: of errors, norms, Bessel functions; integers of 8 and 16 bits.
#pragma once

#include <bankwise/emulator/cuda/math.hpp>

// X(name): a function of one number; the name of the version for float ends in f.
#define BANKWISE_SPECIAL(X) \
  X(erfinv) X(erfcinv) X(erfcx) X(normcdf) X(normcdfinv) X(rcbrt) X(cyl_bessel_i0) X(cyl_bessel_i1)

// X(name after __v): an operation on two words, for 2 and for 4 numbers. The suffixes as in CUDA: ss and us for results
// that stay within the signed or unsigned range, s and u for signed and unsigned numbers.
// clang-format off
#define BANKWISE_SIMD(X) \
  X(add) X(addss) X(addus) X(sub) X(subss) X(subus) X(avgs) X(avgu) X(haddu) X(maxs) X(maxu) X(mins) X(minu) \
  X(absdiffs) X(absdiffu) X(cmpeq) X(cmpne) X(cmpges) X(cmpgeu) X(cmpgts) X(cmpgtu) X(cmples) X(cmpleu) X(cmplts) \
  X(cmpltu)
// clang-format on

namespace bankwise::emulator::device {

#define BANKWISE_DECLARE(name) [[gnu::const]] double name(double x) noexcept;
BANKWISE_SPECIAL(BANKWISE_DECLARE)
#undef BANKWISE_DECLARE
/// The sum of products of the 16-bit numbers of `a` and the lower or upper two bytes of `b`.
[[gnu::const]] unsigned dot_of_halves(unsigned a, unsigned b, unsigned sum, bool is_signed, bool upper) noexcept;

#define BANKWISE_NAME(name) name,
enum class Simd { BANKWISE_SIMD(BANKWISE_NAME) };
#undef BANKWISE_NAME

/// `count` is 2 or 4. Comparisons give all bits or none.
[[gnu::const]] unsigned simd(Simd operation, unsigned count, unsigned a, unsigned b) noexcept;
/// Sum of the numbers in a word.
[[gnu::const]] unsigned simd_sum(unsigned count, unsigned a) noexcept;

}  // namespace bankwise::emulator::device

namespace bankwise::emulator::cuda {

#define BANKWISE_DEFINE(name)                                            \
  BANKWISE_DEVICE double name(double x) { return device::name(x); }      \
  BANKWISE_DEVICE float name(float x) { return float(device::name(x)); } \
  BANKWISE_DEVICE float name##f(float x) { return float(device::name(x)); }
BANKWISE_SPECIAL(BANKWISE_DEFINE)
#undef BANKWISE_DEFINE
#undef BANKWISE_SPECIAL

/// The root of the sum of squares, without overflow.
double norm(int count, const double* values) noexcept;
BANKWISE_DEVICE double norm3d(double a, double b, double c) {
  const double values[]{a, b, c};
  return norm(3, values);
}
BANKWISE_DEVICE double norm4d(double a, double b, double c, double d) {
  const double values[]{a, b, c, d};
  return norm(4, values);
}
BANKWISE_DEVICE float normf(int count, const float* values) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += double(values[i]) * values[i];
  return float(__builtin_sqrt(sum));
}
BANKWISE_FUNCTION(double, rhypot, (double a, double b), 1 / __builtin_hypot(a, b))
BANKWISE_FUNCTION(double, rnorm3d, (double a, double b, double c), 1 / norm3d(a, b, c))
BANKWISE_FUNCTION(double, rnorm4d, (double a, double b, double c, double d), 1 / norm4d(a, b, c, d))
BANKWISE_FUNCTION(double, rnorm, (int count, const double* values), 1 / norm(count, values))
BANKWISE_FUNCTION(float, rnormf, (int count, const float* values), 1 / normf(count, values))
BANKWISE_FUNCTION(float, rhypotf, (float a, float b), float(rhypot(a, b)))
BANKWISE_FUNCTION(float, norm3df, (float a, float b, float c), float(norm3d(a, b, c)))
BANKWISE_FUNCTION(float, norm4df, (float a, float b, float c, float d), float(norm4d(a, b, c, d)))
BANKWISE_FUNCTION(float, rnorm3df, (float a, float b, float c), float(rnorm3d(a, b, c)))
BANKWISE_FUNCTION(float, rnorm4df, (float a, float b, float c, float d), float(rnorm4d(a, b, c, d)))

BANKWISE_FUNCTION(int, __dp2a_lo, (int a, int b, int sum),
                  int(device::dot_of_halves(unsigned(a), unsigned(b), unsigned(sum), true, false)))
BANKWISE_FUNCTION(int, __dp2a_hi, (int a, int b, int sum),
                  int(device::dot_of_halves(unsigned(a), unsigned(b), unsigned(sum), true, true)))
BANKWISE_FUNCTION(unsigned, __dp2a_lo, (unsigned a, unsigned b, unsigned sum),
                  device::dot_of_halves(a, b, sum, false, false))
BANKWISE_FUNCTION(unsigned, __dp2a_hi, (unsigned a, unsigned b, unsigned sum),
                  device::dot_of_halves(a, b, sum, false, true))
/// The position of the n-th set bit from `base` on, upwards or downwards; ~0 if there is none.
[[gnu::const]] unsigned __fns(unsigned mask, unsigned base, int n) noexcept;

// Denormal numbers are kept in both.
#define BANKWISE_DEFINE(mode)                                                                            \
  BANKWISE_DEVICE float __fmaf_ieee_##mode(float a, float b, float c) { return __fmaf_##mode(a, b, c); } \
  BANKWISE_DEVICE float2 __fadd2_##mode(float2 a, float2 b) {                                            \
    return {__fadd_##mode(a.x, b.x), __fadd_##mode(a.y, b.y)};                                           \
  }                                                                                                      \
  BANKWISE_DEVICE float2 __fmul2_##mode(float2 a, float2 b) {                                            \
    return {__fmul_##mode(a.x, b.x), __fmul_##mode(a.y, b.y)};                                           \
  }                                                                                                      \
  BANKWISE_DEVICE float2 __ffma2_##mode(float2 a, float2 b, float2 c) {                                  \
    return {__fmaf_##mode(a.x, b.x, c.x), __fmaf_##mode(a.y, b.y, c.y)};                                 \
  }
BANKWISE_DEFINE(rn)
BANKWISE_DEFINE(rz)
BANKWISE_DEFINE(ru)
BANKWISE_DEFINE(rd)
#undef BANKWISE_DEFINE

/// Modulo 2^32.
BANKWISE_DEVICE int sum_of(int a, int b) { return int(unsigned(a) + unsigned(b)); }
BANKWISE_DEVICE unsigned sum_of(unsigned a, unsigned b) { return a + b; }

// --- integers of 8 and 16 bits, several in a word: __vadd4, __vmaxs2 … ---

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

// Instructions for dynamic programming (DPX): __viaddmax_s32(a, b, c) is max(a + b, c).
#define BANKWISE_DEFINE(extreme, type, T, sum, function)                                           \
  BANKWISE_DEVICE T __vi##extreme##3_##type(T a, T b, T c) { return function(function(a, b), c); } \
  BANKWISE_DEVICE T __viadd##extreme##_##type(T a, T b, T c) { return function(sum(a, b), c); }
#define BANKWISE_RELU(extreme, type, T, function, larger)                                            \
  BANKWISE_DEVICE T __vi##extreme##_##type##_relu(T a, T b) { return larger(function(a, b), T(0)); } \
  BANKWISE_DEVICE T __vi##extreme##3_##type##_relu(T a, T b, T c) {                                  \
    return larger(__vi##extreme##3_##type(a, b, c), T(0));                                           \
  }                                                                                                  \
  BANKWISE_DEVICE T __viadd##extreme##_##type##_relu(T a, T b, T c) {                                \
    return larger(__viadd##extreme##_##type(a, b, c), T(0));                                         \
  }
/// `first`: whether the result is the first operand.
#define BANKWISE_CHOICE(extreme, type, T, relation)                  \
  BANKWISE_DEVICE T __vib##extreme##_##type(T a, T b, bool* first) { \
    *first = a relation b;                                           \
    return *first ? a : b;                                           \
  }
#define BANKWISE_CHOICES(extreme, type, function, relation)                                         \
  BANKWISE_DEVICE unsigned __vib##extreme##_##type(unsigned a, unsigned b, bool* high, bool* low) { \
    const unsigned first = relation(a, b);                                                          \
    *high = first >> 31 != 0;                                                                       \
    *low = (first & 1) != 0;                                                                        \
    return function(a, b);                                                                          \
  }
#define BANKWISE_DPX(extreme, relation, compared)                          \
  BANKWISE_DEFINE(extreme, s32, int, sum_of, extreme)                      \
  BANKWISE_DEFINE(extreme, u32, unsigned, sum_of, extreme)                 \
  BANKWISE_DEFINE(extreme, s16x2, unsigned, __vadd2, __v##extreme##s2)     \
  BANKWISE_DEFINE(extreme, u16x2, unsigned, __vadd2, __v##extreme##u2)     \
  BANKWISE_RELU(extreme, s32, int, extreme, max)                           \
  BANKWISE_RELU(extreme, s16x2, unsigned, __v##extreme##s2, __vmaxs2)      \
  BANKWISE_CHOICE(extreme, s32, int, relation)                             \
  BANKWISE_CHOICE(extreme, u32, unsigned, relation)                        \
  BANKWISE_CHOICES(extreme, s16x2, __v##extreme##s2, __vcmp##compared##s2) \
  BANKWISE_CHOICES(extreme, u16x2, __v##extreme##u2, __vcmp##compared##u2)
            BANKWISE_DPX(max, >=, ge) BANKWISE_DPX(min, <=, le)
#undef BANKWISE_DPX
#undef BANKWISE_CHOICES
#undef BANKWISE_CHOICE
#undef BANKWISE_RELU
#undef BANKWISE_DEFINE

}  // namespace bankwise::emulator::cuda
