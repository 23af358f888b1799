// SPDX-License-Identifier: MIT
//
// Complex numbers.
#pragma once

#include <cuda_runtime.h>

namespace bankwise::cuda {

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

// The functions for double, then those for float, whose names end in f.
#define BANKWISE_COMPLEX(number, complex, made, f)                                       \
  BANKWISE_WORD complex make_cu##made##Complex(number real, number imaginary) {          \
    return {real, imaginary};                                                            \
  }                                                                                      \
  BANKWISE_WORD number cuCreal##f(complex a) {                                           \
    return a.x;                                                                          \
  }                                                                                      \
  BANKWISE_WORD number cuCimag##f(complex a) {                                           \
    return a.y;                                                                          \
  }                                                                                      \
  BANKWISE_WORD complex cuConj##f(complex a) {                                           \
    return {a.x, -a.y};                                                                  \
  }                                                                                      \
  BANKWISE_WORD complex cuCadd##f(complex a, complex b) {                                \
    return {a.x + b.x, a.y + b.y};                                                       \
  }                                                                                      \
  BANKWISE_WORD complex cuCsub##f(complex a, complex b) {                                \
    return {a.x - b.x, a.y - b.y};                                                       \
  }                                                                                      \
  BANKWISE_WORD complex cuCmul##f(complex a, complex b) {                                \
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                               \
  }                                                                                      \
  BANKWISE_WORD complex cuCdiv##f(complex a, complex b) {                                \
    const number scale = 1 / (fabs##f(b.x) + fabs##f(b.y)); /* against overflow */       \
    const number ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale; \
    const number inverse = 1 / (bx * bx + by * by);                                      \
    return {(ax * bx + ay * by) * inverse, (ay * bx - ax * by) * inverse};               \
  }                                                                                      \
  BANKWISE_WORD number cuCabs##f(complex a) {                                            \
    return hypot##f(a.x, a.y);                                                           \
  }                                                                                      \
  BANKWISE_WORD complex cuCfma##f(complex a, complex b, complex c) {                     \
    return {a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x};                   \
  }
BANKWISE_COMPLEX(double, cuDoubleComplex, Double, )
BANKWISE_COMPLEX(float, cuFloatComplex, Float, f)
#undef BANKWISE_COMPLEX

BANKWISE_WORD cuComplex make_cuComplex(float real, float imaginary) {
  return {real, imaginary};
}
BANKWISE_WORD cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) {
  return {a.x, a.y};
}
BANKWISE_WORD cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return {float(a.x), float(a.y)};
}

}  // namespace bankwise::cuda
