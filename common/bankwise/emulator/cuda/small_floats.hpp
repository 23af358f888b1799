// Half precision and bfloat16 have the same functions under two names. This header defines them for one of the two:
//
//   #define BANKWISE_ONE half              // in the names of functions: __float2half
//   #define BANKWISE_TWO half2             // __floats2half2_rn
//   #define BANKWISE_T __half
//   #define BANKWISE_T2 __half2
//   #define BANKWISE_FORMAT half           // a value of device::FloatFormat
//   #include <bankwise/emulator/cuda/small_floats.hpp>
//
// No include guard.
#include <bankwise/emulator/cuda/qualifiers.hpp>
#ifdef BANKWISE_HOST_SOURCE
#include <bankwise/emulator/cuda/vector_types.hpp>
#else
#include <bankwise/emulator/cuda/cooperative_groups.hpp>
#endif
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
  /// From the other format.
  template <class Other, class = decltype(Other::__x)>
  BANKWISE_DEVICE explicit BANKWISE_T(const Other& other) : BANKWISE_T(static_cast<float>(other)) {}
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
  BANKWISE_DEVICE operator BANKWISE_RAW_ONE() const volatile { return {__x}; }  // which cuda::std::complex copies

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

// A name, of which one part is BANKWISE_ONE or BANKWISE_TWO.
#define BANKWISE_3_(a, b, c) a##b##c
#define BANKWISE_3(a, b, c) BANKWISE_3_(a, b, c)
#define BANKWISE_MAKE(bits) BANKWISE_T(BANKWISE_RAW_ONE{static_cast<unsigned short>(bits)})

#define BANKWISE_FROM_FLOAT(name, type, mode)                                        \
  BANKWISE_DEVICE BANKWISE_T name(type value) {                                      \
    using namespace device;                                                          \
    return BANKWISE_MAKE(small_from(BANKWISE_FORMAT_OF, RoundingMode::mode, value)); \
  }
BANKWISE_FROM_FLOAT(BANKWISE_3(__float2, BANKWISE_ONE, ), float, rn)
BANKWISE_FROM_FLOAT(BANKWISE_3(__float2, BANKWISE_ONE, _rn), float, rn)
BANKWISE_FROM_FLOAT(BANKWISE_3(__float2, BANKWISE_ONE, _rz), float, rz)
BANKWISE_FROM_FLOAT(BANKWISE_3(__float2, BANKWISE_ONE, _ru), float, ru)
BANKWISE_FROM_FLOAT(BANKWISE_3(__float2, BANKWISE_ONE, _rd), float, rd)
BANKWISE_FROM_FLOAT(BANKWISE_3(__double2, BANKWISE_ONE, ), double, rn)
#undef BANKWISE_FROM_FLOAT

BANKWISE_DEVICE float BANKWISE_3(__, BANKWISE_ONE, 2float)(BANKWISE_T a) { return a; }

#define BANKWISE_OF_INTEGER(short_name, type, wide, mode)                                                            \
  BANKWISE_DEVICE BANKWISE_T BANKWISE_3(__##short_name##2, BANKWISE_ONE, _##mode)(type value) {                      \
    using namespace device;                                                                                          \
    return BANKWISE_MAKE(small_from_integer(BANKWISE_FORMAT_OF, RoundingMode::mode, static_cast<wide>(value)));      \
  }                                                                                                                  \
  BANKWISE_DEVICE type BANKWISE_3(__, BANKWISE_ONE, 2##short_name##_##mode)(BANKWISE_T a) {                          \
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
BANKWISE_DEVICE signed char BANKWISE_3(__, BANKWISE_ONE, 2char_rz)(BANKWISE_T a) { return a; }
BANKWISE_DEVICE unsigned char BANKWISE_3(__, BANKWISE_ONE, 2uchar_rz)(BANKWISE_T a) { return a; }

BANKWISE_DEVICE short BANKWISE_3(__, BANKWISE_ONE, _as_short)(BANKWISE_T a) { return short(a.__x); }
BANKWISE_DEVICE unsigned short BANKWISE_3(__, BANKWISE_ONE, _as_ushort)(BANKWISE_T a) { return a.__x; }
BANKWISE_DEVICE BANKWISE_T BANKWISE_3(__short_as_, BANKWISE_ONE, )(short bits) {
  return BANKWISE_MAKE(static_cast<unsigned short>(bits));
}
BANKWISE_DEVICE BANKWISE_T BANKWISE_3(__ushort_as_, BANKWISE_ONE, )(unsigned short bits) { return BANKWISE_MAKE(bits); }

BANKWISE_DEVICE BANKWISE_T2 BANKWISE_3(__float2, BANKWISE_TWO, _rn)(float a) { return {a, a}; }
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_3(__floats2, BANKWISE_TWO, _rn)(float a, float b) { return {a, b}; }
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_3(__float22, BANKWISE_TWO, _rn)(float2 a) { return {a.x, a.y}; }
BANKWISE_DEVICE float2 BANKWISE_3(__, BANKWISE_TWO, 2float2)(BANKWISE_T2 a) { return {a.x, a.y}; }
BANKWISE_DEVICE float __low2float(BANKWISE_T2 a) { return a.x; }
BANKWISE_DEVICE float __high2float(BANKWISE_T2 a) { return a.y; }
BANKWISE_DEVICE BANKWISE_T BANKWISE_3(__low2, BANKWISE_ONE, )(BANKWISE_T2 a) { return a.x; }
BANKWISE_DEVICE BANKWISE_T BANKWISE_3(__high2, BANKWISE_ONE, )(BANKWISE_T2 a) { return a.y; }
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_3(__low2, BANKWISE_TWO, )(BANKWISE_T2 a) { return {a.x, a.x}; }
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_3(__high2, BANKWISE_TWO, )(BANKWISE_T2 a) { return {a.y, a.y}; }
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_3(__lows2, BANKWISE_TWO, )(BANKWISE_T2 a, BANKWISE_T2 b) { return {a.x, b.x}; }
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_3(__highs2, BANKWISE_TWO, )(BANKWISE_T2 a, BANKWISE_T2 b) { return {a.y, b.y}; }
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_3(__halves2, BANKWISE_TWO, )(BANKWISE_T a, BANKWISE_T b) { return {a, b}; }
BANKWISE_DEVICE BANKWISE_T2 __lowhigh2highlow(BANKWISE_T2 a) { return {a.y, a.x}; }
/// __half2half2, __bfloat162bfloat162
BANKWISE_DEVICE BANKWISE_T2 BANKWISE_3(BANKWISE_JOIN(__, BANKWISE_ONE), 2, BANKWISE_TWO)(BANKWISE_T a) {
  return {a, a};
}

#undef BANKWISE_3_
#undef BANKWISE_3

// --- arithmetic. Functions of pairs are functions of their parts ---

#define BANKWISE_OF_PAIRS(name2, name) \
  BANKWISE_DEVICE BANKWISE_T2 name2(BANKWISE_T2 a, BANKWISE_T2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
#define BANKWISE_OF_THREE_PAIRS(name2, name)                                       \
  BANKWISE_DEVICE BANKWISE_T2 name2(BANKWISE_T2 a, BANKWISE_T2 b, BANKWISE_T2 c) { \
    return {name(a.x, b.x, c.x), name(a.y, b.y, c.y)};                             \
  }
#define BANKWISE_BINARY(name, name2, operation)                                              \
  BANKWISE_DEVICE BANKWISE_T name(BANKWISE_T a, BANKWISE_T b) {                              \
    using namespace device;                                                                  \
    return BANKWISE_MAKE(small_binary(BANKWISE_FORMAT_OF, Binary::operation, a.__x, b.__x)); \
  }                                                                                          \
  BANKWISE_OF_PAIRS(name2, name)
BANKWISE_BINARY(__hadd, __hadd2, add)
BANKWISE_BINARY(__hsub, __hsub2, sub)
BANKWISE_BINARY(__hmul, __hmul2, mul)
BANKWISE_BINARY(__hadd_rn, __hadd2_rn, add)  // CUDA's suffix _rn means: never contracted to fma
BANKWISE_BINARY(__hsub_rn, __hsub2_rn, sub)
BANKWISE_BINARY(__hmul_rn, __hmul2_rn, mul)
BANKWISE_BINARY(__hdiv, __h2div, div)
BANKWISE_BINARY(__hmax, __hmax2, maximum)
BANKWISE_BINARY(__hmin, __hmin2, minimum)
BANKWISE_BINARY(__hmax_nan, __hmax2_nan, maximum_nan)
BANKWISE_BINARY(__hmin_nan, __hmin2_nan, minimum_nan)
#undef BANKWISE_BINARY

BANKWISE_DEVICE BANKWISE_T __hfma(BANKWISE_T a, BANKWISE_T b, BANKWISE_T c) {
  return BANKWISE_MAKE(device::small_fma(BANKWISE_FORMAT_OF, a.__x, b.__x, c.__x));
}
BANKWISE_OF_THREE_PAIRS(__hfma2, __hfma)
/// a · b + c of complex numbers.
BANKWISE_DEVICE BANKWISE_T2 __hcmadd(BANKWISE_T2 a, BANKWISE_T2 b, BANKWISE_T2 c) {
  const BANKWISE_T minus_y = BANKWISE_MAKE(a.y.__x ^ 0x8000u);
  return {__hfma(minus_y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}

#define BANKWISE_LIMITED(name, limit, parameters, unlimited)                            \
  BANKWISE_DEVICE BANKWISE_T name parameters {                                          \
    using namespace device;                                                             \
    return BANKWISE_MAKE(small_limit(BANKWISE_FORMAT_OF, Limit::limit, unlimited.__x)); \
  }
#define BANKWISE_PAIR (BANKWISE_T a, BANKWISE_T b)
#define BANKWISE_TRIPLE (BANKWISE_T a, BANKWISE_T b, BANKWISE_T c)
BANKWISE_LIMITED(__hadd_sat, to_unit_interval, BANKWISE_PAIR, __hadd(a, b))
BANKWISE_LIMITED(__hsub_sat, to_unit_interval, BANKWISE_PAIR, __hsub(a, b))
BANKWISE_LIMITED(__hmul_sat, to_unit_interval, BANKWISE_PAIR, __hmul(a, b))
BANKWISE_LIMITED(__hfma_sat, to_unit_interval, BANKWISE_TRIPLE, __hfma(a, b, c))
BANKWISE_LIMITED(__hfma_relu, to_positive, BANKWISE_TRIPLE, __hfma(a, b, c))
#undef BANKWISE_LIMITED
#undef BANKWISE_PAIR
#undef BANKWISE_TRIPLE
BANKWISE_OF_PAIRS(__hadd2_sat, __hadd_sat)
BANKWISE_OF_PAIRS(__hsub2_sat, __hsub_sat)
BANKWISE_OF_PAIRS(__hmul2_sat, __hmul_sat)
BANKWISE_OF_THREE_PAIRS(__hfma2_sat, __hfma_sat)
BANKWISE_OF_THREE_PAIRS(__hfma2_relu, __hfma_relu)
#undef BANKWISE_OF_PAIRS
#undef BANKWISE_OF_THREE_PAIRS

BANKWISE_DEVICE BANKWISE_T __hneg(BANKWISE_T a) { return BANKWISE_MAKE(a.__x ^ 0x8000u); }
BANKWISE_DEVICE BANKWISE_T __habs(BANKWISE_T a) { return BANKWISE_MAKE(a.__x & 0x7FFFu); }
BANKWISE_DEVICE BANKWISE_T2 __hneg2(BANKWISE_T2 a) { return {__hneg(a.x), __hneg(a.y)}; }
BANKWISE_DEVICE BANKWISE_T2 __habs2(BANKWISE_T2 a) { return {__habs(a.x), __habs(a.y)}; }

// --- functions: the correctly rounded result; a GPU may be off by one in the last bit ---

#define BANKWISE_UNARY(name, function)                                             \
  BANKWISE_DEVICE BANKWISE_T h##name(BANKWISE_T a) {                               \
    using namespace device;                                                        \
    return BANKWISE_MAKE(small_unary(BANKWISE_FORMAT_OF, Unary::function, a.__x)); \
  }                                                                                \
  BANKWISE_DEVICE BANKWISE_T2 h2##name(BANKWISE_T2 a) { return {h##name(a.x), h##name(a.y)}; }
#define BANKWISE_SAME_NAME(name) BANKWISE_UNARY(name, name)
BANKWISE_UNARY_NAMES(BANKWISE_SAME_NAME)
BANKWISE_UNARY(tanh_approx, tanh)
#undef BANKWISE_SAME_NAME
#undef BANKWISE_UNARY

// --- comparisons. The suffix u: true, too, if one of the two is not a number ---

BANKWISE_DEVICE bool __hisnan(BANKWISE_T a) {
  const float value = a;
  return value != value;
}
BANKWISE_DEVICE int __hisinf(BANKWISE_T a) {
  const float value = a;
  return (value == __builtin_inff()) - (value == -__builtin_inff());
}

#define BANKWISE_COMPARISON(name, relation)                                   \
  BANKWISE_DEVICE bool __h##name(BANKWISE_T x, BANKWISE_T y) {                \
    const float a = x, b = y;                                                 \
    return relation;                                                          \
  }                                                                           \
  BANKWISE_DEVICE BANKWISE_T2 __h##name##2(BANKWISE_T2 a, BANKWISE_T2 b) {    \
    return {float(__h##name(a.x, b.x)), float(__h##name(a.y, b.y))};          \
  }                                                                           \
  BANKWISE_DEVICE bool __hb##name##2(BANKWISE_T2 a, BANKWISE_T2 b) {          \
    return __h##name(a.x, b.x) & __h##name(a.y, b.y);                         \
  }                                                                           \
  BANKWISE_DEVICE unsigned __h##name##2_mask(BANKWISE_T2 a, BANKWISE_T2 b) {  \
    return __h##name(a.x, b.x) * 0xFFFFu | __h##name(a.y, b.y) * 0xFFFF0000u; \
  }
BANKWISE_COMPARISON(eq, a == b)
BANKWISE_COMPARISON(ne, (a < b) | (a > b))
BANKWISE_COMPARISON(lt, a < b)
BANKWISE_COMPARISON(le, a <= b)
BANKWISE_COMPARISON(gt, a > b)
BANKWISE_COMPARISON(ge, a >= b)
BANKWISE_COMPARISON(equ, !((a < b) | (a > b)))
BANKWISE_COMPARISON(neu, a != b)
BANKWISE_COMPARISON(ltu, !(a >= b))
BANKWISE_COMPARISON(leu, !(a > b))
BANKWISE_COMPARISON(gtu, !(a <= b))
BANKWISE_COMPARISON(geu, !(a < b))
#undef BANKWISE_COMPARISON
BANKWISE_DEVICE BANKWISE_T2 __hisnan2(BANKWISE_T2 a) { return {float(__hisnan(a.x)), float(__hisnan(a.y))}; }

// --- operators ---

#define BANKWISE_OPERATORS(type, sum, difference, product, quotient, negated, suffix, prefix)              \
  BANKWISE_DEVICE type operator+(const type& a, const type& b) { return sum(a, b); }                       \
  BANKWISE_DEVICE type operator-(const type& a, const type& b) { return difference(a, b); }                \
  BANKWISE_DEVICE type operator*(const type& a, const type& b) { return product(a, b); }                   \
  BANKWISE_DEVICE type operator/(const type& a, const type& b) { return quotient(a, b); }                  \
  BANKWISE_DEVICE type& operator+=(type& a, const type& b) { return a = sum(a, b); }                       \
  BANKWISE_DEVICE type& operator-=(type& a, const type& b) { return a = difference(a, b); }                \
  BANKWISE_DEVICE type& operator*=(type& a, const type& b) { return a = product(a, b); }                   \
  BANKWISE_DEVICE type& operator/=(type& a, const type& b) { return a = quotient(a, b); }                  \
  BANKWISE_DEVICE type operator+(const type& a) { return a; }                                              \
  BANKWISE_DEVICE type operator-(const type& a) { return negated(a); }                                     \
  BANKWISE_DEVICE bool operator==(const type& a, const type& b) { return __h##prefix##eq##suffix(a, b); }  \
  BANKWISE_DEVICE bool operator!=(const type& a, const type& b) { return __h##prefix##neu##suffix(a, b); } \
  BANKWISE_DEVICE bool operator<(const type& a, const type& b) { return __h##prefix##lt##suffix(a, b); }   \
  BANKWISE_DEVICE bool operator<=(const type& a, const type& b) { return __h##prefix##le##suffix(a, b); }  \
  BANKWISE_DEVICE bool operator>(const type& a, const type& b) { return __h##prefix##gt##suffix(a, b); }   \
  BANKWISE_DEVICE bool operator>=(const type& a, const type& b) { return __h##prefix##ge##suffix(a, b); }
BANKWISE_OPERATORS(BANKWISE_T, __hadd, __hsub, __hmul, __hdiv, __hneg, , )
BANKWISE_OPERATORS(BANKWISE_T2, __hadd2, __hsub2, __hmul2, __h2div, __hneg2, 2, b)
#undef BANKWISE_OPERATORS

#define BANKWISE_STEP(operation, assignment)                                                           \
  BANKWISE_DEVICE BANKWISE_T& operator operation(BANKWISE_T& a) { return a assignment BANKWISE_T(1); } \
  BANKWISE_DEVICE BANKWISE_T operator operation(BANKWISE_T& a, int) {                                  \
    const BANKWISE_T before = a;                                                                       \
    a assignment BANKWISE_T(1);                                                                        \
    return before;                                                                                     \
  }                                                                                                    \
  BANKWISE_DEVICE BANKWISE_T2& operator operation(BANKWISE_T2& a) { return a assignment BANKWISE_T2(1, 1); }
BANKWISE_STEP(++, +=)
BANKWISE_STEP(--, -=)
#undef BANKWISE_STEP

// --- between lanes, and atomics ---

#ifndef BANKWISE_HOST_SOURCE

#define BANKWISE_ATOMIC_ADD(type)                                                                                  \
  BANKWISE_DEVICE type atomicAdd(type* address, type value) {                                                      \
    using namespace device;                                                                                        \
    return from_bits<type>(small_atomic_add(BANKWISE_FORMAT_OF, address, unsigned(to_bits(value)), sizeof(type))); \
  }
BANKWISE_SHUFFLES(BANKWISE_T)
BANKWISE_SHUFFLES(BANKWISE_T2)
BANKWISE_ATOMIC_ADD(BANKWISE_T)
BANKWISE_ATOMIC_ADD(BANKWISE_T2)
#undef BANKWISE_ATOMIC_ADD
#endif

}  // namespace bankwise::emulator::cuda

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
