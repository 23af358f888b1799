// Complex numbers.
#pragma once

#include <cuda_runtime.h>

namespace bankwise::emulator::cuda {

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

// The functions for double, then those for float, whose names end in f.
#define BANKWISE_COMPLEX(number, complex, made, f)                                                                   \
  BANKWISE_DEVICE complex make_cu##made##Complex(number real, number imaginary) { return {real, imaginary}; }        \
  BANKWISE_DEVICE number cuCreal##f(complex a) { return a.x; }                                                       \
  BANKWISE_DEVICE number cuCimag##f(complex a) { return a.y; }                                                       \
  BANKWISE_DEVICE complex cuConj##f(complex a) { return {a.x, -a.y}; }                                               \
  BANKWISE_DEVICE complex cuCadd##f(complex a, complex b) { return {a.x + b.x, a.y + b.y}; }                         \
  BANKWISE_DEVICE complex cuCsub##f(complex a, complex b) { return {a.x - b.x, a.y - b.y}; }                         \
  BANKWISE_DEVICE complex cuCmul##f(complex a, complex b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
  BANKWISE_DEVICE complex cuCdiv##f(complex a, complex b) {                                                          \
    const number scale = 1 / (fabs##f(b.x) + fabs##f(b.y)); /* against overflow */                                   \
    const number ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;                             \
    const number inverse = 1 / (bx * bx + by * by);                                                                  \
    return {(ax * bx + ay * by) * inverse, (ay * bx - ax * by) * inverse};                                           \
  }                                                                                                                  \
  BANKWISE_DEVICE number cuCabs##f(complex a) { return hypot##f(a.x, a.y); }                                         \
  BANKWISE_DEVICE complex cuCfma##f(complex a, complex b, complex c) {                                               \
    return {a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x};                                               \
  }
BANKWISE_COMPLEX(double, cuDoubleComplex, Double, )
BANKWISE_COMPLEX(float, cuFloatComplex, Float, f)
#undef BANKWISE_COMPLEX

BANKWISE_DEVICE cuComplex make_cuComplex(float real, float imaginary) { return {real, imaginary}; }
BANKWISE_DEVICE cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return {a.x, a.y}; }
BANKWISE_DEVICE cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) { return {float(a.x), float(a.y)}; }

}  // namespace bankwise::emulator::cuda
