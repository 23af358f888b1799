// CUDA's arithmetic. Each GPU instruction is one call or straight-line code here, because a branch would add a basic
// block, which counts as the kernel's work. Approximations (__sinf, rsqrtf) are exact here.
#pragma once

#include <math.h>  // C's names, and C++'s overloads of them, in the global namespace
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cstdint>

#include <bankwise/emulator/cuda/vector_types.hpp>

/// Functions that C libraries declare or will: glibc has __sinf and, from 2.42, rsqrtf. Not overloads.
#define BANKWISE_C_DEVICE extern "C" __attribute__((always_inline, gnu_inline)) inline
#define BANKWISE_C_FUNCTION(result, name, parameters, expression) \
  BANKWISE_C_DEVICE result name parameters noexcept { return expression; }

// X(name, mode, result, argument): conversions <name>_<mode>, for each of the four modes of rounding.
#define BANKWISE_MODES(X, name, ...) \
  X(name, rn, __VA_ARGS__) X(name, rz, __VA_ARGS__) X(name, ru, __VA_ARGS__) X(name, rd, __VA_ARGS__)
#define BANKWISE_CONVERSIONS(X)                               \
  BANKWISE_MODES(X, __float2int, int, float)                  \
  BANKWISE_MODES(X, __float2uint, unsigned, float)            \
  BANKWISE_MODES(X, __float2ll, long long, float)             \
  BANKWISE_MODES(X, __float2ull, unsigned long long, float)   \
  BANKWISE_MODES(X, __double2int, int, double)                \
  BANKWISE_MODES(X, __double2uint, unsigned, double)          \
  BANKWISE_MODES(X, __double2ll, long long, double)           \
  BANKWISE_MODES(X, __double2ull, unsigned long long, double) \
  BANKWISE_MODES(X, __double2float, float, double)            \
  BANKWISE_MODES(X, __int2float, float, int)                  \
  BANKWISE_MODES(X, __uint2float, float, unsigned)            \
  BANKWISE_MODES(X, __ll2float, float, long long)             \
  BANKWISE_MODES(X, __ull2float, float, unsigned long long)   \
  BANKWISE_MODES(X, __ll2double, double, long long)           \
  BANKWISE_MODES(X, __ull2double, double, unsigned long long)

// X(name, mode, type, number of arguments, result): arithmetic, for each of the four modes of rounding.
#define BANKWISE_ROUNDED(X)                              \
  BANKWISE_MODES(X, __fadd, float, 2, a + b)             \
  BANKWISE_MODES(X, __fsub, float, 2, a - b)             \
  BANKWISE_MODES(X, __fmul, float, 2, (a * b))           \
  BANKWISE_MODES(X, __fdiv, float, 2, a / b)             \
  BANKWISE_MODES(X, __fmaf, float, 3, std::fma(a, b, c)) \
  BANKWISE_MODES(X, __frcp, float, 1, 1 / a)             \
  BANKWISE_MODES(X, __fsqrt, float, 1, std::sqrt(a))     \
  BANKWISE_MODES(X, __dadd, double, 2, a + b)            \
  BANKWISE_MODES(X, __dsub, double, 2, a - b)            \
  BANKWISE_MODES(X, __dmul, double, 2, (a * b))          \
  BANKWISE_MODES(X, __ddiv, double, 2, a / b)            \
  BANKWISE_MODES(X, __fma, double, 3, std::fma(a, b, c)) \
  BANKWISE_MODES(X, __drcp, double, 1, 1 / a)            \
  BANKWISE_MODES(X, __dsqrt, double, 1, std::sqrt(a))

namespace bankwise::emulator::device {

[[gnu::const]] float reciprocal_root(float x) noexcept;
[[gnu::const]] double reciprocal_root(double x) noexcept;
[[gnu::const]] double sine_of_pi_times(double x) noexcept;
[[gnu::const]] double cosine_of_pi_times(double x) noexcept;
[[gnu::const]] unsigned dot_of_bytes(unsigned a, bool a_signed, unsigned b, bool b_signed, unsigned sum) noexcept;

}  // namespace bankwise::emulator::device

namespace bankwise::emulator::cuda {

// --- minimum and maximum: CUDA's list of overloads ---

#define BANKWISE_EXTREMES(result, first, second)                   \
  BANKWISE_DEVICE constexpr result min(first left, second right) { \
    const auto a = static_cast<result>(left);                      \
    const auto b = static_cast<result>(right);                     \
    return a < b ? a : b;                                          \
  }                                                                \
  BANKWISE_DEVICE constexpr result max(first left, second right) { \
    const auto a = static_cast<result>(left);                      \
    const auto b = static_cast<result>(right);                     \
    return a > b ? a : b;                                          \
  }
#define BANKWISE_EXTREMES_OF(T, U) \
  BANKWISE_EXTREMES(T, T, T)       \
  BANKWISE_EXTREMES(U, U, U)       \
  BANKWISE_EXTREMES(U, T, U)       \
  BANKWISE_EXTREMES(U, U, T)
BANKWISE_EXTREMES_OF(int, unsigned)
BANKWISE_EXTREMES_OF(long, unsigned long)
BANKWISE_EXTREMES_OF(long long, unsigned long long)
#undef BANKWISE_EXTREMES_OF
#undef BANKWISE_EXTREMES

BANKWISE_FUNCTION(float, min, (float a, float b), __builtin_fminf(a, b))
BANKWISE_FUNCTION(float, max, (float a, float b), __builtin_fmaxf(a, b))
BANKWISE_FUNCTION(double, min, (double a, double b), __builtin_fmin(a, b))
BANKWISE_FUNCTION(double, max, (double a, double b), __builtin_fmax(a, b))
BANKWISE_FUNCTION(double, min, (float a, double b), __builtin_fmin(a, b))
BANKWISE_FUNCTION(double, max, (float a, double b), __builtin_fmax(a, b))
BANKWISE_FUNCTION(double, min, (double a, float b), __builtin_fmin(a, b))
BANKWISE_FUNCTION(double, max, (double a, float b), __builtin_fmax(a, b))

BANKWISE_FUNCTION(unsigned, umin, (unsigned a, unsigned b), min(a, b))
BANKWISE_FUNCTION(unsigned, umax, (unsigned a, unsigned b), max(a, b))
BANKWISE_FUNCTION(long long, llmin, (long long a, long long b), min(a, b))
BANKWISE_FUNCTION(long long, llmax, (long long a, long long b), max(a, b))
BANKWISE_FUNCTION(unsigned long long, ullmin, (unsigned long long a, unsigned long long b), min(a, b))
BANKWISE_FUNCTION(unsigned long long, ullmax, (unsigned long long a, unsigned long long b), max(a, b))

// --- bits ---

// __builtin_clz(0) is undefined, and a test for 0 is a branch.
BANKWISE_FUNCTION(int, __clz, (int x), __builtin_clz(unsigned(x) | 1u) + (x == 0))
BANKWISE_FUNCTION(int, __clzll, (long long x), __builtin_clzll((unsigned long long)x | 1u) + (x == 0))
BANKWISE_FUNCTION(int, __popc, (unsigned x), __builtin_popcount(x))
BANKWISE_FUNCTION(int, __popcll, (unsigned long long x), __builtin_popcountll(x))
BANKWISE_FUNCTION(int, __ffs, (int x), __builtin_ffs(x))
BANKWISE_FUNCTION(int, __ffsll, (long long x), __builtin_ffsll(x))

BANKWISE_DEVICE unsigned long long __brevll(unsigned long long x) {
  x = __builtin_bswap64(x);
  x = (x >> 4 & 0x0F0F0F0F0F0F0F0F) | (x & 0x0F0F0F0F0F0F0F0F) << 4;
  x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
  return (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
}
BANKWISE_FUNCTION(unsigned, __brev, (unsigned x), unsigned(__brevll(x) >> 32))

[[gnu::const]] unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) noexcept;

/// The upper word of high:low << (shift modulo 32).
BANKWISE_FUNCTION(unsigned, __funnelshift_l, (unsigned low, unsigned high, unsigned shift),
                  unsigned((std::uint64_t(high) << 32 | low) << (shift & 31) >> 32))
/// The same, but shifts of more than 32 count as shifts of 32.
BANKWISE_FUNCTION(unsigned, __funnelshift_lc, (unsigned low, unsigned high, unsigned shift),
                  unsigned((std::uint64_t(high) << 32 | low) << min(shift, 32u) >> 32))
/// The lower word of high:low >> (shift modulo 32).
BANKWISE_FUNCTION(unsigned, __funnelshift_r, (unsigned low, unsigned high, unsigned shift),
                  unsigned((std::uint64_t(high) << 32 | low) >> (shift & 31)))
BANKWISE_FUNCTION(unsigned, __funnelshift_rc, (unsigned low, unsigned high, unsigned shift),
                  unsigned((std::uint64_t(high) << 32 | low) >> min(shift, 32u)))

// --- integers ---

BANKWISE_FUNCTION(int, __mulhi, (int a, int b), int(std::int64_t(a) * b >> 32))
BANKWISE_FUNCTION(unsigned, __umulhi, (unsigned a, unsigned b), unsigned(std::uint64_t(a) * b >> 32))
BANKWISE_FUNCTION(long long, __mul64hi, (long long a, long long b), (long long)((__extension__(__int128) a * b) >> 64))
BANKWISE_FUNCTION(unsigned long long, __umul64hi, (unsigned long long a, unsigned long long b),
                  (unsigned long long)((__extension__(unsigned __int128) a * b) >> 64))
/// The lower 32 bits of the product of the lower 24 bits, which are a signed number.
BANKWISE_FUNCTION(int, __mul24, (int a, int b),
                  int(unsigned((int(unsigned(a) << 8) >> 8) * std::int64_t(int(unsigned(b) << 8) >> 8))))
BANKWISE_FUNCTION(unsigned, __umul24, (unsigned a, unsigned b), (a & 0xFFFFFF) * (b & 0xFFFFFF))
/// |a - b| + sum
BANKWISE_FUNCTION(unsigned, __usad, (unsigned a, unsigned b, unsigned sum), max(a, b) - min(a, b) + sum)
BANKWISE_FUNCTION(unsigned, __sad, (int a, int b, unsigned sum), unsigned(max(a, b)) - unsigned(min(a, b)) + sum)
BANKWISE_FUNCTION(int, __hadd, (int a, int b), int((std::int64_t(a) + b) >> 1))
BANKWISE_FUNCTION(int, __rhadd, (int a, int b), int((std::int64_t(a) + b + 1) >> 1))
BANKWISE_FUNCTION(unsigned, __uhadd, (unsigned a, unsigned b), unsigned((std::uint64_t(a) + b) >> 1))
BANKWISE_FUNCTION(unsigned, __urhadd, (unsigned a, unsigned b), unsigned((std::uint64_t(a) + b + 1) >> 1))
BANKWISE_FUNCTION(int, __dp4a, (int a, int b, int sum),
                  int(device::dot_of_bytes(unsigned(a), true, unsigned(b), true, unsigned(sum))))
BANKWISE_FUNCTION(unsigned, __dp4a, (unsigned a, unsigned b, unsigned sum),
                  device::dot_of_bytes(a, false, b, false, sum))
BANKWISE_FUNCTION(int, __dp4a, (char4 a, char4 b, int sum),
                  __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), sum))
BANKWISE_FUNCTION(unsigned, __dp4a, (uchar4 a, uchar4 b, unsigned sum),
                  __dp4a(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), sum))

// --- the same bits as another type ---

#define BANKWISE_AS(name, result, argument) \
  BANKWISE_DEVICE result name(argument x) { return __builtin_bit_cast(result, x); }
BANKWISE_AS(__float_as_int, int, float)
BANKWISE_AS(__float_as_uint, unsigned, float)
BANKWISE_AS(__int_as_float, float, int)
BANKWISE_AS(__uint_as_float, float, unsigned)
BANKWISE_AS(__double_as_longlong, long long, double)
BANKWISE_AS(__longlong_as_double, double, long long)
#undef BANKWISE_AS
BANKWISE_FUNCTION(int, __double2hiint, (double x), int(__double_as_longlong(x) >> 32))
BANKWISE_FUNCTION(int, __double2loint, (double x), int(__double_as_longlong(x)))
BANKWISE_FUNCTION(double, __hiloint2double, (int high, int low),
                  __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low)))

// --- conversions and arithmetic with a rounding mode in the name ---

#define BANKWISE_DECLARE(name, mode, result, argument) [[gnu::const]] result name##_##mode(argument value) noexcept;
BANKWISE_CONVERSIONS(BANKWISE_DECLARE)
#undef BANKWISE_DECLARE
BANKWISE_FUNCTION(double, __int2double_rn, (int x), x)
BANKWISE_FUNCTION(double, __uint2double_rn, (unsigned x), x)

#define BANKWISE_TAKES_1(type) (type a)
#define BANKWISE_TAKES_2(type) (type a, type b)
#define BANKWISE_TAKES_3(type) (type a, type b, type c)
#define BANKWISE_DECLARE(name, mode, type, arguments, result) \
  [[gnu::const]] type name##_##mode BANKWISE_TAKES_##arguments(type) noexcept;
BANKWISE_ROUNDED(BANKWISE_DECLARE)
#undef BANKWISE_DECLARE

BANKWISE_FUNCTION(float, __frsqrt_rn, (float x), device::reciprocal_root(x))
BANKWISE_DEVICE float __saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0), 1); }  // NaN: 0
BANKWISE_FUNCTION(float, fdividef, (float a, float b), a / b)
BANKWISE_FUNCTION(float, __fdividef, (float a, float b), a / b)

}  // namespace bankwise::emulator::cuda

BANKWISE_C_FUNCTION(float, rsqrtf, (float x), bankwise::emulator::device::reciprocal_root(x))
BANKWISE_C_FUNCTION(double, rsqrt, (double x), bankwise::emulator::device::reciprocal_root(x))
BANKWISE_C_FUNCTION(double, sinpi, (double x), bankwise::emulator::device::sine_of_pi_times(x))
BANKWISE_C_FUNCTION(double, cospi, (double x), bankwise::emulator::device::cosine_of_pi_times(x))
BANKWISE_C_FUNCTION(float, sinpif, (float x), float(bankwise::emulator::device::sine_of_pi_times(x)))
BANKWISE_C_FUNCTION(float, cospif, (float x), float(bankwise::emulator::device::cosine_of_pi_times(x)))
BANKWISE_C_DEVICE void sincospif(float x, float* sine, float* cosine) noexcept {
  *sine = float(bankwise::emulator::device::sine_of_pi_times(x));
  *cosine = float(bankwise::emulator::device::cosine_of_pi_times(x));
}
BANKWISE_C_DEVICE void sincospi(double x, double* sine, double* cosine) noexcept {
  *sine = bankwise::emulator::device::sine_of_pi_times(x);
  *cosine = bankwise::emulator::device::cosine_of_pi_times(x);
}

BANKWISE_C_FUNCTION(float, __sinf, (float x), __builtin_sinf(x))
BANKWISE_C_FUNCTION(float, __cosf, (float x), __builtin_cosf(x))
BANKWISE_C_FUNCTION(float, __tanf, (float x), __builtin_tanf(x))
BANKWISE_C_FUNCTION(float, __expf, (float x), __builtin_expf(x))
BANKWISE_C_FUNCTION(float, __exp10f, (float x), ::exp10f(x))
BANKWISE_C_FUNCTION(float, __logf, (float x), __builtin_logf(x))
BANKWISE_C_FUNCTION(float, __log2f, (float x), __builtin_log2f(x))
BANKWISE_C_FUNCTION(float, __log10f, (float x), __builtin_log10f(x))
BANKWISE_C_FUNCTION(float, __powf, (float x, float y), __builtin_powf(x, y))
BANKWISE_C_DEVICE void __sincosf(float x, float* sine, float* cosine) noexcept {
  *sine = __builtin_sinf(x);
  *cosine = __builtin_cosf(x);
}
