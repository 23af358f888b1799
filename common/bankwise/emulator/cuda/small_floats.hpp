// SPDX-License-Identifier: MIT
//
// Half precision and bfloat16 have the same functions under two names. This header defines them for one of the two:
//
//   #define BANKWISE_ONE half              // in the names of functions: __float2half
//   #define BANKWISE_TWO half2             // __floats2half2_rn
//   #define BANKWISE_T __half
//   #define BANKWISE_T2 __half2
//   #define BANKWISE_FORMAT half           // a value of device::FloatFormat
//   #include <bankwise/emulator/cuda/small_floats.hpp>
//
// No include guard. small_float_functions.hpp has the functions that compute.
#include <bankwise/emulator/cuda/cooperative_groups.hpp>
#include <bankwise/emulator/cuda/small_float_words.hpp>

#define BANKWISE_JOIN_(a, b) a##b
#define BANKWISE_JOIN(a, b) BANKWISE_JOIN_(a, b)
#define BANKWISE_RAW_ONE BANKWISE_JOIN(BANKWISE_T, _raw)
#define BANKWISE_RAW_TWO BANKWISE_JOIN(BANKWISE_T2, _raw)
#define BANKWISE_FORMAT_OF ::bankwise::emulator::device::FloatFormat::BANKWISE_FORMAT

namespace bankwise::emulator::cuda {

struct __align__(2) BANKWISE_RAW_ONE {
  unsigned short x;
};
struct __align__(4) BANKWISE_RAW_TWO {
  unsigned short x, y;
};

// clang-format off
// X(type, unsigned or signed long long)
#define BANKWISE_INTEGERS(X)                                                                             \
  X(short, long long) X(unsigned short, unsigned long long) X(int, long long) X(unsigned, unsigned long long) \
  X(long, long long) X(unsigned long, unsigned long long) X(long long, long long)                        \
  X(unsigned long long, unsigned long long)
// clang-format on

/// Converts from and to all numbers, as CUDA's type does.
struct __align__(2) BANKWISE_T {
  BANKWISE_T() = default;
  BANKWISE_DEVICE constexpr BANKWISE_T(const BANKWISE_RAW_ONE& raw) : __x(raw.x) {}
  BANKWISE_DEVICE BANKWISE_T(float value)
      : __x(device::small_from(BANKWISE_FORMAT_OF, device::RoundingMode::rn, value)) {}
  BANKWISE_DEVICE BANKWISE_T(double value)
      : __x(device::small_from(BANKWISE_FORMAT_OF, device::RoundingMode::rn, value)) {}
#define BANKWISE_FROM(type, wide)        \
  BANKWISE_DEVICE BANKWISE_T(type value) \
      : __x(device::small_from_integer(BANKWISE_FORMAT_OF, device::RoundingMode::rn, static_cast<wide>(value))) {}
  BANKWISE_INTEGERS(BANKWISE_FROM)
#undef BANKWISE_FROM
  BANKWISE_DEVICE operator float() const { return device::small_to_float(BANKWISE_FORMAT_OF, __x); }
  BANKWISE_DEVICE constexpr operator bool() const { return (__x & 0x7FFF) != 0; }
#define BANKWISE_TO(type, wide)                                                                          \
  BANKWISE_DEVICE operator type() const {                                                                \
    return static_cast<type>(device::small_to_integer(BANKWISE_FORMAT_OF, device::RoundingMode::rz, __x, \
                                                      8 * sizeof(type), device::is_signed<type>));       \
  }
  BANKWISE_INTEGERS(BANKWISE_TO)
  BANKWISE_TO(char, long long)
  BANKWISE_TO(signed char, long long)
  BANKWISE_TO(unsigned char, unsigned long long)
#undef BANKWISE_TO
  BANKWISE_DEVICE constexpr operator BANKWISE_RAW_ONE() const { return {__x}; }

  unsigned short __x;  // the bits; libraries of the toolkit know this name
};

struct __align__(4) BANKWISE_T2 {
  BANKWISE_T2() = default;
  BANKWISE_DEVICE constexpr BANKWISE_T2(const BANKWISE_T& a, const BANKWISE_T& b) : x(a), y(b) {}
  BANKWISE_DEVICE constexpr BANKWISE_T2(const BANKWISE_RAW_TWO& raw)
      : x(BANKWISE_RAW_ONE{raw.x}), y(BANKWISE_RAW_ONE{raw.y}) {}
  BANKWISE_DEVICE constexpr operator BANKWISE_RAW_TWO() const { return {x.__x, y.__x}; }

  BANKWISE_T x, y;
};

// --- conversions, and pairs from parts ---

// The names, with the parts of BANKWISE_ONE and BANKWISE_TWO in place.
#define BANKWISE_3_(a, b, c) a##b##c
#define BANKWISE_3(a, b, c) BANKWISE_3_(a, b, c)
#define BANKWISE_FROM_NAME(source, suffix) BANKWISE_3(source, BANKWISE_ONE, suffix)
#define BANKWISE_TO_NAME(suffix) BANKWISE_3(__, BANKWISE_ONE, suffix)
#define BANKWISE_FROM_NAME2(source, suffix) BANKWISE_3(source, BANKWISE_TWO, suffix)
#define BANKWISE_TO_NAME2(suffix) BANKWISE_3(__, BANKWISE_TWO, suffix)
#define BANKWISE_MAKE(bits) BANKWISE_T(BANKWISE_RAW_ONE{static_cast<unsigned short>(bits)})

#define BANKWISE_FROM_FLOAT(name, type, mode)                                        \
  BANKWISE_DEVICE BANKWISE_T name(type value) {                                      \
    using namespace device;                                                          \
    return BANKWISE_MAKE(small_from(BANKWISE_FORMAT_OF, RoundingMode::mode, value)); \
  }
BANKWISE_FROM_FLOAT(BANKWISE_FROM_NAME(__float2, ), float, rn)
BANKWISE_FROM_FLOAT(BANKWISE_FROM_NAME(__float2, _rn), float, rn)
BANKWISE_FROM_FLOAT(BANKWISE_FROM_NAME(__float2, _rz), float, rz)
BANKWISE_FROM_FLOAT(BANKWISE_FROM_NAME(__float2, _ru), float, ru)
BANKWISE_FROM_FLOAT(BANKWISE_FROM_NAME(__float2, _rd), float, rd)
BANKWISE_FROM_FLOAT(BANKWISE_FROM_NAME(__double2, ), double, rn)
#undef BANKWISE_FROM_FLOAT

BANKWISE_DEVICE float BANKWISE_TO_NAME(2float)(BANKWISE_T a) { return a; }

#define BANKWISE_OF_INTEGER(short_name, type, wide, mode)                                                            \
  BANKWISE_DEVICE BANKWISE_T BANKWISE_FROM_NAME(__##short_name##2, _##mode)(type value) {                            \
    using namespace device;                                                                                          \
    return BANKWISE_MAKE(small_from_integer(BANKWISE_FORMAT_OF, RoundingMode::mode, static_cast<wide>(value)));      \
  }                                                                                                                  \
  BANKWISE_DEVICE type BANKWISE_TO_NAME(2##short_name##_##mode)(BANKWISE_T a) {                                      \
    using namespace device;                                                                                          \
    return static_cast<type>(                                                                                        \
        small_to_integer(BANKWISE_FORMAT_OF, RoundingMode::mode, a.__x, 8 * sizeof(type), device::is_signed<type>)); \
  }
#define BANKWISE_IN_EACH_MODE(short_name, type, wide) \
  BANKWISE_OF_INTEGER(short_name, type, wide, rn)     \
  BANKWISE_OF_INTEGER(short_name, type, wide, rz)     \
  BANKWISE_OF_INTEGER(short_name, type, wide, ru)     \
  BANKWISE_OF_INTEGER(short_name, type, wide, rd)
BANKWISE_IN_EACH_MODE(short, short, long long)
BANKWISE_IN_EACH_MODE(int, int, long long)
BANKWISE_IN_EACH_MODE(ll, long long, long long)
BANKWISE_IN_EACH_MODE(ushort, unsigned short, unsigned long long)
BANKWISE_IN_EACH_MODE(uint, unsigned, unsigned long long)
BANKWISE_IN_EACH_MODE(ull, unsigned long long, unsigned long long)
#undef BANKWISE_IN_EACH_MODE
#undef BANKWISE_OF_INTEGER
BANKWISE_DEVICE signed char BANKWISE_TO_NAME(2char_rz)(BANKWISE_T a) { return a; }
BANKWISE_DEVICE unsigned char BANKWISE_TO_NAME(2uchar_rz)(BANKWISE_T a) { return a; }

BANKWISE_DEVICE short BANKWISE_TO_NAME(_as_short)(BANKWISE_T a) { return short(a.__x); }
BANKWISE_DEVICE unsigned short BANKWISE_TO_NAME(_as_ushort)(BANKWISE_T a) { return a.__x; }
BANKWISE_DEVICE BANKWISE_T BANKWISE_FROM_NAME(__short_as_, )(short bits) {
  return BANKWISE_MAKE(static_cast<unsigned short>(bits));
}
BANKWISE_DEVICE BANKWISE_T BANKWISE_FROM_NAME(__ushort_as_, )(unsigned short bits) { return BANKWISE_MAKE(bits); }

BANKWISE_DEVICE BANKWISE_T2 BANKWISE_FROM_NAME2(make_, )(BANKWISE_T x, BANKWISE_T y) { return {x, y}; }
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_FROM_NAME2(__float2, _rn)(float a) { return {a, a}; }
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_FROM_NAME2(__floats2, _rn)(float a, float b) { return {a, b}; }
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_FROM_NAME2(__float22, _rn)(float2 a) { return {a.x, a.y}; }
BANKWISE_DEVICE float2 BANKWISE_TO_NAME2(2float2)(BANKWISE_T2 a) { return {a.x, a.y}; }
BANKWISE_DEVICE float __low2float(BANKWISE_T2 a) { return a.x; }
BANKWISE_DEVICE float __high2float(BANKWISE_T2 a) { return a.y; }
BANKWISE_DEVICE BANKWISE_T BANKWISE_FROM_NAME(__low2, )(BANKWISE_T2 a) { return a.x; }
BANKWISE_DEVICE BANKWISE_T BANKWISE_FROM_NAME(__high2, )(BANKWISE_T2 a) { return a.y; }
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_FROM_NAME2(__low2, )(BANKWISE_T2 a) { return {a.x, a.x}; }
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_FROM_NAME2(__high2, )(BANKWISE_T2 a) { return {a.y, a.y}; }
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_FROM_NAME2(__lows2, )(BANKWISE_T2 a, BANKWISE_T2 b) { return {a.x, b.x}; }
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_FROM_NAME2(__highs2, )(BANKWISE_T2 a, BANKWISE_T2 b) { return {a.y, b.y}; }
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_FROM_NAME2(__halves2, )(BANKWISE_T a, BANKWISE_T b) { return {a, b}; }
BANKWISE_DEVICE BANKWISE_T2 __lowhigh2highlow(BANKWISE_T2 a) { return {a.y, a.x}; }
/// __half2half2, __bfloat162bfloat162
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_3(BANKWISE_JOIN(__, BANKWISE_ONE), 2, BANKWISE_TWO)(BANKWISE_T a) {
  return {a, a};
}

#undef BANKWISE_3_
#undef BANKWISE_3
#undef BANKWISE_FROM_NAME
#undef BANKWISE_TO_NAME
#undef BANKWISE_FROM_NAME2
#undef BANKWISE_TO_NAME2

}  // namespace bankwise::emulator::cuda

#include <bankwise/emulator/cuda/small_float_functions.hpp>

#undef BANKWISE_MAKE
#undef BANKWISE_INTEGERS
#undef BANKWISE_JOIN_
#undef BANKWISE_JOIN
#undef BANKWISE_RAW_ONE
#undef BANKWISE_RAW_TWO
#undef BANKWISE_FORMAT_OF
#undef BANKWISE_ONE
#undef BANKWISE_TWO
#undef BANKWISE_T
#undef BANKWISE_T2
#undef BANKWISE_FORMAT
