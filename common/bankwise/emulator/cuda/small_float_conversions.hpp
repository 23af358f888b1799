// SPDX-License-Identifier: MIT
//
// Part of small_floats.hpp: conversions, and pairs from parts. No include guard.

namespace bankwise::emulator::cuda {

// The names, with the parts of BANKWISE_ONE and BANKWISE_TWO in place.
#define BANKWISE_3_(a, b, c) a##b##c
#define BANKWISE_3(a, b, c) BANKWISE_3_(a, b, c)
#define BANKWISE_FROM_NAME(source, suffix) BANKWISE_3(source, BANKWISE_ONE, suffix)
#define BANKWISE_TO_NAME(suffix) BANKWISE_3(__, BANKWISE_ONE, suffix)
#define BANKWISE_FROM_NAME2(source, suffix) BANKWISE_3(source, BANKWISE_TWO, suffix)
#define BANKWISE_TO_NAME2(suffix) BANKWISE_3(__, BANKWISE_TWO, suffix)
#define BANKWISE_MAKE(bits) ::bankwise::emulator::device::BANKWISE_JOIN(BANKWISE_ONE, _of)(bits)

// --- one number ---

#define BANKWISE_FROM_FLOAT(name, type, mode)                                        \
  BANKWISE_DEVICE BANKWISE_ONE_TYPE name(type value) {                               \
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

BANKWISE_DEVICE float BANKWISE_TO_NAME(2float)(BANKWISE_ONE_TYPE a) { return a; }

#define BANKWISE_OF_INTEGER(short_name, type, wide, mode)                                                            \
  BANKWISE_DEVICE BANKWISE_ONE_TYPE BANKWISE_FROM_NAME(__##short_name##2, _##mode)(type value) {                     \
    using namespace device;                                                                                          \
    return BANKWISE_MAKE(small_from_integer(BANKWISE_FORMAT_OF, RoundingMode::mode, static_cast<wide>(value)));      \
  }                                                                                                                  \
  BANKWISE_DEVICE type BANKWISE_TO_NAME(2##short_name##_##mode)(BANKWISE_ONE_TYPE a) {                               \
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
BANKWISE_DEVICE signed char BANKWISE_TO_NAME(2char_rz)(BANKWISE_ONE_TYPE a) { return a; }
BANKWISE_DEVICE unsigned char BANKWISE_TO_NAME(2uchar_rz)(BANKWISE_ONE_TYPE a) { return a; }

BANKWISE_DEVICE short BANKWISE_TO_NAME(_as_short)(BANKWISE_ONE_TYPE a) { return short(a.__x); }
BANKWISE_DEVICE unsigned short BANKWISE_TO_NAME(_as_ushort)(BANKWISE_ONE_TYPE a) { return a.__x; }
BANKWISE_DEVICE BANKWISE_ONE_TYPE BANKWISE_FROM_NAME(__short_as_, )(short bits) {
  return BANKWISE_MAKE(static_cast<unsigned short>(bits));
}
BANKWISE_DEVICE BANKWISE_ONE_TYPE BANKWISE_FROM_NAME(__ushort_as_, )(unsigned short bits) {
  return BANKWISE_MAKE(bits);
}

// --- two numbers ---

BANKWISE_DEVICE BANKWISE_TWO_TYPE BANKWISE_FROM_NAME2(make_, )(BANKWISE_ONE_TYPE x, BANKWISE_ONE_TYPE y) {
  return {x, y};
}
BANKWISE_DEVICE BANKWISE_TWO_TYPE BANKWISE_FROM_NAME2(__float2, _rn)(float a) { return {a, a}; }
BANKWISE_DEVICE BANKWISE_TWO_TYPE BANKWISE_FROM_NAME2(__floats2, _rn)(float a, float b) { return {a, b}; }
BANKWISE_DEVICE BANKWISE_TWO_TYPE BANKWISE_FROM_NAME2(__float22, _rn)(float2 a) { return {a.x, a.y}; }
BANKWISE_DEVICE float2 BANKWISE_TO_NAME2(2float2)(BANKWISE_TWO_TYPE a) { return {a.x, a.y}; }
BANKWISE_DEVICE float __low2float(BANKWISE_TWO_TYPE a) { return a.x; }
BANKWISE_DEVICE float __high2float(BANKWISE_TWO_TYPE a) { return a.y; }
BANKWISE_DEVICE BANKWISE_ONE_TYPE BANKWISE_FROM_NAME(__low2, )(BANKWISE_TWO_TYPE a) { return a.x; }
BANKWISE_DEVICE BANKWISE_ONE_TYPE BANKWISE_FROM_NAME(__high2, )(BANKWISE_TWO_TYPE a) { return a.y; }
BANKWISE_DEVICE BANKWISE_TWO_TYPE BANKWISE_FROM_NAME2(__low2, )(BANKWISE_TWO_TYPE a) { return {a.x, a.x}; }
BANKWISE_DEVICE BANKWISE_TWO_TYPE BANKWISE_FROM_NAME2(__high2, )(BANKWISE_TWO_TYPE a) { return {a.y, a.y}; }
BANKWISE_DEVICE BANKWISE_TWO_TYPE BANKWISE_FROM_NAME2(__lows2, )(BANKWISE_TWO_TYPE a, BANKWISE_TWO_TYPE b) {
  return {a.x, b.x};
}
BANKWISE_DEVICE BANKWISE_TWO_TYPE BANKWISE_FROM_NAME2(__highs2, )(BANKWISE_TWO_TYPE a, BANKWISE_TWO_TYPE b) {
  return {a.y, b.y};
}
BANKWISE_DEVICE BANKWISE_TWO_TYPE BANKWISE_FROM_NAME2(__halves2, )(BANKWISE_ONE_TYPE a, BANKWISE_ONE_TYPE b) {
  return {a, b};
}
BANKWISE_DEVICE BANKWISE_TWO_TYPE __lowhigh2highlow(BANKWISE_TWO_TYPE a) { return {a.y, a.x}; }
/// __half2half2, __bfloat162bfloat162
BANKWISE_DEVICE BANKWISE_TWO_TYPE BANKWISE_3(BANKWISE_JOIN(__, BANKWISE_ONE), 2, BANKWISE_TWO)(BANKWISE_ONE_TYPE a) {
  return {a, a};
}

#undef BANKWISE_3_
#undef BANKWISE_3
#undef BANKWISE_FROM_NAME
#undef BANKWISE_TO_NAME
#undef BANKWISE_FROM_NAME2
#undef BANKWISE_TO_NAME2
#undef BANKWISE_MAKE

}  // namespace bankwise::emulator::cuda
