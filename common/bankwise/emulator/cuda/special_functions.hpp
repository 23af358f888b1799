// SPDX-License-Identifier: MIT
//
// Functions of CUDA that the C library lacks: error functions and their inverses, norms, Bessel functions.
#pragma once

#include <bankwise/emulator/cuda/math.hpp>

// X(name): a function of one number; the name of the version for float ends in f.
#define BANKWISE_SPECIAL(X) \
  X(erfinv) X(erfcinv) X(erfcx) X(normcdf) X(normcdfinv) X(rcbrt) X(cyl_bessel_i0) X(cyl_bessel_i1)

namespace bankwise::emulator::device {

#define BANKWISE_DECLARE(name) [[gnu::const]] double name(double x) noexcept;
BANKWISE_SPECIAL(BANKWISE_DECLARE)
#undef BANKWISE_DECLARE
/// The root of the sum of squares, without overflow.
double norm(int count, const double* values) noexcept;
/// The sum of products of the 16-bit numbers of `a` and the lower or upper two bytes of `b`.
[[gnu::const]] unsigned dot_of_halves(unsigned a, unsigned b, unsigned sum, bool is_signed, bool upper) noexcept;
/// The position of the n-th set bit from `base` on, upwards or downwards; ~0 if there is none.
[[gnu::const]] unsigned nth_bit(unsigned mask, unsigned base, int n) noexcept;

}  // namespace bankwise::emulator::device

namespace bankwise::emulator::cuda {

#define BANKWISE_DEFINE(name)                                            \
  BANKWISE_DEVICE double name(double x) { return device::name(x); }      \
  BANKWISE_DEVICE float name(float x) { return float(device::name(x)); } \
  BANKWISE_DEVICE float name##f(float x) { return float(device::name(x)); }
BANKWISE_SPECIAL(BANKWISE_DEFINE)
#undef BANKWISE_DEFINE
#undef BANKWISE_SPECIAL

BANKWISE_DEVICE double norm3d(double a, double b, double c) {
  const double values[]{a, b, c};
  return device::norm(3, values);
}
BANKWISE_DEVICE double norm4d(double a, double b, double c, double d) {
  const double values[]{a, b, c, d};
  return device::norm(4, values);
}
BANKWISE_FUNCTION(double, norm, (int count, const double* values), device::norm(count, values))
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
BANKWISE_FUNCTION(unsigned, __fns, (unsigned mask, unsigned base, int n), device::nth_bit(mask, base, n))

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

}  // namespace bankwise::emulator::cuda
