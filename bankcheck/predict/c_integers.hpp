// The integers of CUDA C++ and OpenCL C, of four types, with their operators and conversions.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "bankcheck/predict/predict.hpp"

namespace bankwise::predict {

struct IntType {
  bool is_wide, is_unsigned;
};

/// The bits of a value: 32-bit ones are extended to 64, an int by its sign and an unsigned by zeros. Then most
/// conversions, comparisons and bit operations are the same for both widths.
using Bits = std::uint64_t;
inline constexpr IntType int32{false, false}, uint32{false, true}, int64{true, false}, uint64{true, true};

inline Bits converted(IntType type, Bits bits) {
  if (type.is_wide) return bits;
  return type.is_unsigned ? std::uint32_t(bits) : Bits(std::int64_t{std::int32_t(bits)});
}
/// The usual arithmetic conversions.
inline IntType common_type(IntType a, IntType b) {
  if (a.is_wide != b.is_wide) return a.is_wide ? a : b;
  return {a.is_wide, a.is_unsigned || b.is_unsigned};
}
inline std::string shown(IntType type, Bits bits) {
  return type.is_unsigned ? std::to_string(bits) : std::to_string(std::int64_t(bits));
}

/// The result of a signed operation, which must not overflow; unsigned ones wrap.
inline Bits in_range(IntType type, Bits a, const char* name, Bits b, std::int64_t result, bool overflows) {
  const Bits kept = converted(type, Bits(result));
  if (!type.is_unsigned && (overflows || kept != Bits(result))) {
    throw ExpressionError(fmt::format("{} {} {} overflows {}, which is undefined in CUDA and OpenCL", shown(type, a),
                                      name, shown(type, b), type.is_wide ? "a 64-bit integer" : "int"));
  }
  return kept;
}
template <char operation>
Bits arithmetic(IntType type, Bits a, Bits b) {
  std::int64_t result = 0;
  const auto left = std::int64_t(a), right = std::int64_t(b);
  const bool overflows = operation == '+'   ? __builtin_add_overflow(left, right, &result)
                         : operation == '-' ? __builtin_sub_overflow(left, right, &result)
                                            : __builtin_mul_overflow(left, right, &result);
  constexpr char name[]{operation, '\0'};
  return in_range(type, a, name, b, result, overflows);
}
/// Checks a division or a remainder: the divisor is not 0, and the quotient of signed numbers has their type.
inline void check_division(IntType type, Bits a, const char* name, Bits b) {
  if (b == 0) throw ExpressionError("it divides by zero");
  if (type.is_unsigned || std::int64_t(b) != -1) return;
  (void)in_range(type, a, name, b, std::int64_t(0 - a), std::int64_t(a) == std::numeric_limits<std::int64_t>::min());
}
inline Bits quotient(IntType type, Bits a, Bits b) {
  check_division(type, a, "/", b);
  return type.is_unsigned ? a / b : Bits(std::int64_t(a) / std::int64_t(b));
}
inline Bits remainder(IntType type, Bits a, Bits b) {
  check_division(type, a, "%", b);
  return type.is_unsigned ? a % b : Bits(std::int64_t(a) % std::int64_t(b));
}
inline bool is_less(IntType type, Bits a, Bits b) {
  return type.is_unsigned ? a < b : std::int64_t(a) < std::int64_t(b);
}
inline unsigned shift_count(IntType type, Bits count) {
  const unsigned width = type.is_wide ? 64 : 32;
  if (count < width) return unsigned(count);  // a negative count is above it
  throw ExpressionError(fmt::format("a shift is not between 0 and {}", width - 1));
}

/// How an operator converts its operands, and the type of its result: both to their common type; the left one's, as
/// shifts; the common type, then an int; each compared with 0, the right one only if the left one does not decide.
enum class Conversion : std::uint8_t { common, left, comparison, logical };

struct BinaryOperator {
  std::string_view name;
  int precedence;  // as in C
  Conversion conversion;
  Bits (*value)(IntType, Bits, Bits);
};

inline constexpr int precedence_of_or = 1;
// A name precedes the names that it begins with.
inline constexpr BinaryOperator binary_operators[]{
    {"||", precedence_of_or, Conversion::logical, [](IntType, Bits a, Bits b) { return Bits(a != 0 || b != 0); }},
    {"&&", 2, Conversion::logical, [](IntType, Bits a, Bits b) { return Bits(a != 0 && b != 0); }},
    {"<<", 8, Conversion::left,
     [](IntType type, Bits a, Bits b) { return converted(type, a << shift_count(type, b)); }},
    {">>", 8, Conversion::left,
     [](IntType type, Bits a, Bits b) {
       const unsigned count = shift_count(type, b);
       return type.is_unsigned ? a >> count : Bits(std::int64_t(a) >> count);
     }},
    {"==", 6, Conversion::comparison, [](IntType, Bits a, Bits b) { return Bits(a == b); }},
    {"!=", 6, Conversion::comparison, [](IntType, Bits a, Bits b) { return Bits(a != b); }},
    {"<=", 7, Conversion::comparison, [](IntType type, Bits a, Bits b) { return Bits(!is_less(type, b, a)); }},
    {">=", 7, Conversion::comparison, [](IntType type, Bits a, Bits b) { return Bits(!is_less(type, a, b)); }},
    {"<", 7, Conversion::comparison, [](IntType type, Bits a, Bits b) { return Bits(is_less(type, a, b)); }},
    {">", 7, Conversion::comparison, [](IntType type, Bits a, Bits b) { return Bits(is_less(type, b, a)); }},
    {"|", 3, Conversion::common, [](IntType, Bits a, Bits b) { return a | b; }},
    {"^", 4, Conversion::common, [](IntType, Bits a, Bits b) { return a ^ b; }},
    {"&", 5, Conversion::common, [](IntType, Bits a, Bits b) { return a & b; }},
    {"+", 9, Conversion::common, arithmetic<'+'>},
    {"-", 9, Conversion::common, arithmetic<'-'>},
    {"*", 10, Conversion::common, arithmetic<'*'>},
    {"/", 10, Conversion::common, quotient},
    {"%", 10, Conversion::common, remainder},
};
// A sign is an operator with 0 or -1 on its left, which takes the type of the other operand.
inline constexpr BinaryOperator negated{"-", 0, Conversion::common, arithmetic<'-'>};
inline constexpr BinaryOperator inverted{"~", 0, Conversion::common, [](IntType, Bits a, Bits b) { return a ^ b; }};
inline constexpr BinaryOperator is_zero{"!", 0, Conversion::comparison,
                                        [](IntType, Bits a, Bits b) { return Bits(a == b); }};
inline constexpr BinaryOperator minimum{"min", 0, Conversion::common,
                                        [](IntType type, Bits a, Bits b) { return is_less(type, b, a) ? b : a; }};
inline constexpr BinaryOperator maximum{"max", 0, Conversion::common,
                                        [](IntType type, Bits a, Bits b) { return is_less(type, a, b) ? b : a; }};
inline constexpr BinaryOperator magnitude{"abs", 0, Conversion::common, [](IntType type, Bits zero, Bits a) {
                                            return is_less(type, a, zero) ? arithmetic<'-'>(type, zero, a) : a;
                                          }};

}  // namespace bankwise::predict
