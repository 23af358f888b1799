// SPDX-License-Identifier: MIT
//
// Half precision and bfloat16 have the same functions under two names. This header defines them for one of the two:
//
//   #define BANKWISE_ONE half              // in the names of functions: __float2half
//   #define BANKWISE_TWO half2             // __floats2half2_rn
//   #define BANKWISE_ONE_TYPE __half
//   #define BANKWISE_TWO_TYPE __half2
//   #define BANKWISE_FORMAT half           // a value of device::FloatFormat
//   #include <bankwise/emulator/cuda/small_floats.hpp>
//
// No include guard. small_float_functions.hpp has the functions.
#include <bankwise/emulator/cuda/cooperative_groups.hpp>
#include <bankwise/emulator/cuda/small_float_words.hpp>

#define BANKWISE_JOIN_(a, b) a##b
#define BANKWISE_JOIN(a, b) BANKWISE_JOIN_(a, b)
#define BANKWISE_RAW_ONE BANKWISE_JOIN(BANKWISE_ONE_TYPE, _raw)
#define BANKWISE_RAW_TWO BANKWISE_JOIN(BANKWISE_TWO_TYPE, _raw)
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
struct __align__(2) BANKWISE_ONE_TYPE {
  BANKWISE_ONE_TYPE() = default;
  BANKWISE_DEVICE constexpr BANKWISE_ONE_TYPE(const BANKWISE_RAW_ONE& raw) : __x(raw.x) {}
  BANKWISE_DEVICE BANKWISE_ONE_TYPE(float value)
      : __x(device::small_from(BANKWISE_FORMAT_OF, device::RoundingMode::rn, value)) {}
  BANKWISE_DEVICE BANKWISE_ONE_TYPE(double value)
      : __x(device::small_from(BANKWISE_FORMAT_OF, device::RoundingMode::rn, value)) {}
#define BANKWISE_FROM(type, wide)               \
  BANKWISE_DEVICE BANKWISE_ONE_TYPE(type value) \
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

struct __align__(4) BANKWISE_TWO_TYPE {
  BANKWISE_TWO_TYPE() = default;
  BANKWISE_DEVICE constexpr BANKWISE_TWO_TYPE(const BANKWISE_ONE_TYPE& a, const BANKWISE_ONE_TYPE& b) : x(a), y(b) {}
  BANKWISE_DEVICE constexpr BANKWISE_TWO_TYPE(const BANKWISE_RAW_TWO& raw)
      : x(BANKWISE_RAW_ONE{raw.x}), y(BANKWISE_RAW_ONE{raw.y}) {}
  BANKWISE_DEVICE constexpr operator BANKWISE_RAW_TWO() const { return {x.__x, y.__x}; }

  BANKWISE_ONE_TYPE x, y;
};

}  // namespace bankwise::emulator::cuda

namespace bankwise::emulator::device {

BANKWISE_DEVICE constexpr cuda::BANKWISE_ONE_TYPE BANKWISE_JOIN(BANKWISE_ONE, _of)(unsigned bits) {
  return cuda::BANKWISE_RAW_ONE{static_cast<unsigned short>(bits)};
}

}  // namespace bankwise::emulator::device

#include <bankwise/emulator/cuda/small_float_conversions.hpp>
#include <bankwise/emulator/cuda/small_float_functions.hpp>

#undef BANKWISE_INTEGERS
#undef BANKWISE_JOIN_
#undef BANKWISE_JOIN
#undef BANKWISE_RAW_ONE
#undef BANKWISE_RAW_TWO
#undef BANKWISE_FORMAT_OF
#undef BANKWISE_ONE
#undef BANKWISE_TWO
#undef BANKWISE_ONE_TYPE
#undef BANKWISE_TWO_TYPE
#undef BANKWISE_FORMAT
