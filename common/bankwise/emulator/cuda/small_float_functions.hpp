// SPDX-License-Identifier: MIT
//
// Part of small_floats.hpp: arithmetic, comparisons, functions, exchanges between lanes. No include guard.

namespace bankwise::emulator::cuda {

#define BANKWISE_MAKE(bits) ::bankwise::emulator::device::BANKWISE_JOIN(BANKWISE_ONE, _of)(bits)

// --- arithmetic ---

#define BANKWISE_BINARY(name, name2, operation)                                              \
  BANKWISE_DEVICE BANKWISE_ONE_TYPE name(BANKWISE_ONE_TYPE a, BANKWISE_ONE_TYPE b) {         \
    using namespace device;                                                                  \
    return BANKWISE_MAKE(small_binary(BANKWISE_FORMAT_OF, Binary::operation, a.__x, b.__x)); \
  }                                                                                          \
  BANKWISE_DEVICE BANKWISE_TWO_TYPE name2(BANKWISE_TWO_TYPE a, BANKWISE_TWO_TYPE b) {        \
    return {name(a.x, b.x), name(a.y, b.y)};                                                 \
  }
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

BANKWISE_DEVICE BANKWISE_ONE_TYPE __hfma(BANKWISE_ONE_TYPE a, BANKWISE_ONE_TYPE b, BANKWISE_ONE_TYPE c) {
  return BANKWISE_MAKE(device::small_fma(BANKWISE_FORMAT_OF, a.__x, b.__x, c.__x));
}
BANKWISE_DEVICE BANKWISE_TWO_TYPE __hfma2(BANKWISE_TWO_TYPE a, BANKWISE_TWO_TYPE b, BANKWISE_TWO_TYPE c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
/// a · b + c of complex numbers.
BANKWISE_DEVICE BANKWISE_TWO_TYPE __hcmadd(BANKWISE_TWO_TYPE a, BANKWISE_TWO_TYPE b, BANKWISE_TWO_TYPE c) {
  const BANKWISE_ONE_TYPE minus_y = BANKWISE_MAKE(a.y.__x ^ 0x8000u);
  return {__hfma(minus_y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}

#define BANKWISE_LIMITED(name, limit, parameters, unlimited)                            \
  BANKWISE_DEVICE BANKWISE_ONE_TYPE name parameters {                                   \
    using namespace device;                                                             \
    return BANKWISE_MAKE(small_limit(BANKWISE_FORMAT_OF, Limit::limit, unlimited.__x)); \
  }
#define BANKWISE_PAIR (BANKWISE_ONE_TYPE a, BANKWISE_ONE_TYPE b)
#define BANKWISE_TRIPLE (BANKWISE_ONE_TYPE a, BANKWISE_ONE_TYPE b, BANKWISE_ONE_TYPE c)
BANKWISE_LIMITED(__hadd_sat, to_unit_interval, BANKWISE_PAIR, __hadd(a, b))
BANKWISE_LIMITED(__hsub_sat, to_unit_interval, BANKWISE_PAIR, __hsub(a, b))
BANKWISE_LIMITED(__hmul_sat, to_unit_interval, BANKWISE_PAIR, __hmul(a, b))
BANKWISE_LIMITED(__hfma_sat, to_unit_interval, BANKWISE_TRIPLE, __hfma(a, b, c))
BANKWISE_LIMITED(__hfma_relu, to_positive, BANKWISE_TRIPLE, __hfma(a, b, c))
#undef BANKWISE_LIMITED
#undef BANKWISE_PAIR
#undef BANKWISE_TRIPLE

#define BANKWISE_OF_PAIRS(name2, name)                                                \
  BANKWISE_DEVICE BANKWISE_TWO_TYPE name2(BANKWISE_TWO_TYPE a, BANKWISE_TWO_TYPE b) { \
    return {name(a.x, b.x), name(a.y, b.y)};                                          \
  }
BANKWISE_OF_PAIRS(__hadd2_sat, __hadd_sat)
BANKWISE_OF_PAIRS(__hsub2_sat, __hsub_sat)
BANKWISE_OF_PAIRS(__hmul2_sat, __hmul_sat)
#undef BANKWISE_OF_PAIRS
BANKWISE_DEVICE BANKWISE_TWO_TYPE __hfma2_sat(BANKWISE_TWO_TYPE a, BANKWISE_TWO_TYPE b, BANKWISE_TWO_TYPE c) {
  return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
}
BANKWISE_DEVICE BANKWISE_TWO_TYPE __hfma2_relu(BANKWISE_TWO_TYPE a, BANKWISE_TWO_TYPE b, BANKWISE_TWO_TYPE c) {
  return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
}

BANKWISE_DEVICE BANKWISE_ONE_TYPE __hneg(BANKWISE_ONE_TYPE a) { return BANKWISE_MAKE(a.__x ^ 0x8000u); }
BANKWISE_DEVICE BANKWISE_ONE_TYPE __habs(BANKWISE_ONE_TYPE a) { return BANKWISE_MAKE(a.__x & 0x7FFFu); }
BANKWISE_DEVICE BANKWISE_TWO_TYPE __hneg2(BANKWISE_TWO_TYPE a) { return {__hneg(a.x), __hneg(a.y)}; }
BANKWISE_DEVICE BANKWISE_TWO_TYPE __habs2(BANKWISE_TWO_TYPE a) { return {__habs(a.x), __habs(a.y)}; }

// --- functions: the correctly rounded result; a GPU may be off by one in the last bit ---

#define BANKWISE_UNARY(name, function)                                             \
  BANKWISE_DEVICE BANKWISE_ONE_TYPE h##name(BANKWISE_ONE_TYPE a) {                 \
    using namespace device;                                                        \
    return BANKWISE_MAKE(small_unary(BANKWISE_FORMAT_OF, Unary::function, a.__x)); \
  }                                                                                \
  BANKWISE_DEVICE BANKWISE_TWO_TYPE h2##name(BANKWISE_TWO_TYPE a) { return {h##name(a.x), h##name(a.y)}; }
BANKWISE_UNARY(sqrt, sqrt)
BANKWISE_UNARY(rsqrt, rsqrt)
BANKWISE_UNARY(rcp, rcp)
BANKWISE_UNARY(log, log)
BANKWISE_UNARY(log2, log2)
BANKWISE_UNARY(log10, log10)
BANKWISE_UNARY(exp, exp)
BANKWISE_UNARY(exp2, exp2)
BANKWISE_UNARY(exp10, exp10)
BANKWISE_UNARY(cos, cos)
BANKWISE_UNARY(sin, sin)
BANKWISE_UNARY(tanh, tanh)
BANKWISE_UNARY(tanh_approx, tanh)
BANKWISE_UNARY(trunc, trunc)
BANKWISE_UNARY(ceil, ceil)
BANKWISE_UNARY(floor, floor)
BANKWISE_UNARY(rint, rint)
#undef BANKWISE_UNARY

// --- comparisons. The suffix u: true, too, if one of the two is not a number ---

BANKWISE_DEVICE bool __hisnan(BANKWISE_ONE_TYPE a) {
  const float value = a;
  return value != value;
}
BANKWISE_DEVICE int __hisinf(BANKWISE_ONE_TYPE a) {
  const float value = a;
  return (value == __builtin_inff()) - (value == -__builtin_inff());
}

#define BANKWISE_COMPARISON(name, relation, or_unordered)                                    \
  BANKWISE_DEVICE bool __h##name(BANKWISE_ONE_TYPE a, BANKWISE_ONE_TYPE b) {                 \
    const float left = a, right = b;                                                         \
    return (left relation right) | (or_unordered & __builtin_isunordered(left, right));      \
  }                                                                                          \
  BANKWISE_DEVICE BANKWISE_TWO_TYPE __h##name##2(BANKWISE_TWO_TYPE a, BANKWISE_TWO_TYPE b) { \
    return {float(__h##name(a.x, b.x)), float(__h##name(a.y, b.y))};                         \
  }                                                                                          \
  BANKWISE_DEVICE bool __hb##name##2(BANKWISE_TWO_TYPE a, BANKWISE_TWO_TYPE b) {             \
    return __h##name(a.x, b.x) & __h##name(a.y, b.y);                                        \
  }                                                                                          \
  BANKWISE_DEVICE unsigned __h##name##2_mask(BANKWISE_TWO_TYPE a, BANKWISE_TWO_TYPE b) {     \
    return __h##name(a.x, b.x) * 0xFFFFu | __h##name(a.y, b.y) * 0xFFFF0000u;                \
  }
BANKWISE_COMPARISON(eq, ==, 0)
BANKWISE_COMPARISON(lt, <, 0)
BANKWISE_COMPARISON(le, <=, 0)
BANKWISE_COMPARISON(gt, >, 0)
BANKWISE_COMPARISON(ge, >=, 0)
BANKWISE_COMPARISON(equ, ==, 1)
BANKWISE_COMPARISON(ltu, <, 1)
BANKWISE_COMPARISON(leu, <=, 1)
BANKWISE_COMPARISON(gtu, >, 1)
BANKWISE_COMPARISON(geu, >=, 1)
BANKWISE_COMPARISON(neu, !=, 1)
#undef BANKWISE_COMPARISON
/// False if one of the two is not a number, unlike `!=`.
BANKWISE_DEVICE bool __hne(BANKWISE_ONE_TYPE a, BANKWISE_ONE_TYPE b) {
  const float left = a, right = b;
  return (left < right) | (left > right);
}
BANKWISE_DEVICE BANKWISE_TWO_TYPE __hne2(BANKWISE_TWO_TYPE a, BANKWISE_TWO_TYPE b) {
  return {float(__hne(a.x, b.x)), float(__hne(a.y, b.y))};
}
BANKWISE_DEVICE bool __hbne2(BANKWISE_TWO_TYPE a, BANKWISE_TWO_TYPE b) { return __hne(a.x, b.x) & __hne(a.y, b.y); }
BANKWISE_DEVICE unsigned __hne2_mask(BANKWISE_TWO_TYPE a, BANKWISE_TWO_TYPE b) {
  return __hne(a.x, b.x) * 0xFFFFu | __hne(a.y, b.y) * 0xFFFF0000u;
}
BANKWISE_DEVICE BANKWISE_TWO_TYPE __hisnan2(BANKWISE_TWO_TYPE a) {
  return {float(__hisnan(a.x)), float(__hisnan(a.y))};
}

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
BANKWISE_OPERATORS(BANKWISE_ONE_TYPE, __hadd, __hsub, __hmul, __hdiv, __hneg, , )
BANKWISE_OPERATORS(BANKWISE_TWO_TYPE, __hadd2, __hsub2, __hmul2, __h2div, __hneg2, 2, b)
#undef BANKWISE_OPERATORS

BANKWISE_DEVICE BANKWISE_ONE_TYPE& operator++(BANKWISE_ONE_TYPE& a) { return a += BANKWISE_ONE_TYPE(1); }
BANKWISE_DEVICE BANKWISE_ONE_TYPE& operator--(BANKWISE_ONE_TYPE& a) { return a -= BANKWISE_ONE_TYPE(1); }
BANKWISE_DEVICE BANKWISE_ONE_TYPE operator++(BANKWISE_ONE_TYPE& a, int) {
  const BANKWISE_ONE_TYPE before = a;
  ++a;
  return before;
}
BANKWISE_DEVICE BANKWISE_ONE_TYPE operator--(BANKWISE_ONE_TYPE& a, int) {
  const BANKWISE_ONE_TYPE before = a;
  --a;
  return before;
}
BANKWISE_DEVICE BANKWISE_TWO_TYPE& operator++(BANKWISE_TWO_TYPE& a) { return a += BANKWISE_TWO_TYPE(1, 1); }
BANKWISE_DEVICE BANKWISE_TWO_TYPE& operator--(BANKWISE_TWO_TYPE& a) { return a -= BANKWISE_TWO_TYPE(1, 1); }

// --- between lanes, and atomics ---

#define BANKWISE_ATOMIC_ADD(type)                                                                                  \
  BANKWISE_DEVICE type atomicAdd(type* address, type value) {                                                      \
    using namespace device;                                                                                        \
    return from_bits<type>(small_atomic_add(BANKWISE_FORMAT_OF, address, unsigned(to_bits(value)), sizeof(type))); \
  }
BANKWISE_SHUFFLES(BANKWISE_ONE_TYPE)
BANKWISE_SHUFFLES(BANKWISE_TWO_TYPE)
BANKWISE_ATOMIC_ADD(BANKWISE_ONE_TYPE)
BANKWISE_ATOMIC_ADD(BANKWISE_TWO_TYPE)
#undef BANKWISE_ATOMIC_ADD
#undef BANKWISE_MAKE

}  // namespace bankwise::emulator::cuda
