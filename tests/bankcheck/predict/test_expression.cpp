// SPDX-License-Identifier: MIT
//
// Values of expressions, compared with the compiler's for a table of expressions and for random ones.
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bankcheck/predict/index_expression.hpp"
#include "tests/catch_any.hpp"

using bankwise::ExpressionError;
using bankwise::IndexExpression;

// The tests rely on C's precedence without parentheses.
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Wconstant-logical-operand"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#else
#pragma GCC diagnostic ignored "-Wbool-compare"
#endif

namespace {

using Int = std::int64_t;

struct Case {
  const char* text;
  Int (*value)(Int tid);
};
#define SAME_IN_C(...)                                                  \
  Case {                                                                \
#__VA_ARGS__, [](Int tid) -> Int { return (void)tid, __VA_ARGS__; } \
  }

// clang-format off: it would parse < > as a template
constexpr Case cases[]{
    SAME_IN_C(tid),
    SAME_IN_C(17 * tid),
    SAME_IN_C((tid ^ (tid >> 3)) * 4),
    SAME_IN_C(tid % 16 * 33 + tid / 16),
    SAME_IN_C(0),
    SAME_IN_C(9007199254740991),
    SAME_IN_C(-9007199254740991),
    SAME_IN_C(0x1fFFffFFffFFff),
    SAME_IN_C(0xaB),
    SAME_IN_C(0Xf),
    SAME_IN_C(((((tid))))),
    // signs
    SAME_IN_C(-tid),
    SAME_IN_C(+tid),
    SAME_IN_C(-tid * 3),
    SAME_IN_C(-tid + 70),
    SAME_IN_C(tid - -3),
    SAME_IN_C(tid * -3),
    SAME_IN_C(tid / -3),
    SAME_IN_C(tid % -3),
    SAME_IN_C(-tid / 3),
    SAME_IN_C(-tid % 3),
    SAME_IN_C(-7 / 2 * 2),
    SAME_IN_C(tid - 5 - 3),
    SAME_IN_C(tid - (5 - 3)),
    SAME_IN_C(100 / 7 / 2),
    SAME_IN_C(100 / (7 / 2)),
    SAME_IN_C(100 % 7 * 3),
    SAME_IN_C(100 * 3 % 7),
    SAME_IN_C(7 * (tid - 31) % 5),
    // bit operations
    SAME_IN_C(~tid & 0xffffffff),
    SAME_IN_C(~(tid | 8) & 63),
    SAME_IN_C(tid & ~3),
    SAME_IN_C(1 << tid % 8),
    SAME_IN_C(1 << 2 << 3),
    SAME_IN_C(1024 >> 2 >> 3),
    SAME_IN_C(1 << 3 + 1),
    SAME_IN_C(64 >> tid / 8),
    SAME_IN_C(tid & 6 | 1),
    SAME_IN_C(tid | 1 & 6),
    SAME_IN_C(tid ^ 5 & 12),
    SAME_IN_C(tid | 5 ^ 12),
    SAME_IN_C(tid ^ 5 | 12),
    SAME_IN_C(tid & 3 == 3),
    SAME_IN_C(tid ^ 3 < 7),
    SAME_IN_C(tid | 4 != 4),
    SAME_IN_C(tid & 1 + 2),
    SAME_IN_C(tid << 2 & 0xf0),
    SAME_IN_C(0xf0 & tid << 2),
    SAME_IN_C(tid >> 1 ^ tid >> 2 ^ tid >> 3),
    SAME_IN_C(1LL << 52),
    // comparisons
    SAME_IN_C(tid < 3),
    SAME_IN_C(tid <= 3),
    SAME_IN_C(tid > 3),
    SAME_IN_C(tid >= 3),
    SAME_IN_C(tid == 3),
    SAME_IN_C(tid != 3),
    SAME_IN_C(tid<5 == tid> 2),
    SAME_IN_C(1 < 2 < 3),
    SAME_IN_C(3 > 2 > 1),
    SAME_IN_C(5 == 5 == 1),
    SAME_IN_C(tid + 1 < tid * 2),
    SAME_IN_C(tid << 1 < 9),
    SAME_IN_C(-1 < tid),
    SAME_IN_C(tid > -1),
    SAME_IN_C(tid < -1),
    // logical operators
    SAME_IN_C(!tid),
    SAME_IN_C(!tid + 5),
    SAME_IN_C(!(tid - 5)),
    SAME_IN_C(tid && 5),
    SAME_IN_C(tid || 0),
    SAME_IN_C(tid<3 || tid> 9 && tid < 12),
    SAME_IN_C((tid < 3 || tid > 9) && tid < 12),
    SAME_IN_C(tid & 1 && tid & 2 || tid & 4),
    SAME_IN_C(1 || 0 && 0),
    SAME_IN_C(tid | 0 && tid),
    SAME_IN_C(tid == 1 || tid == 2),
    // the conditional operator
    SAME_IN_C(tid ? 64 / tid : 7),
    SAME_IN_C(tid < 8 ? tid * 2 : tid),
    SAME_IN_C(tid < 8    ? 1
              : tid < 16 ? 2
                         : 3),
    SAME_IN_C(tid < 8 ? tid < 4 ? 1 : 2 : 3),
    SAME_IN_C((tid < 8 ? 1 : 2) * 3),
    SAME_IN_C(tid < 8 ? 1 : 2 * 3),
    SAME_IN_C(tid & 1 ? tid + 1 : tid - 1),
    SAME_IN_C(tid || 0 ? 4 : 5),
    SAME_IN_C(1 ? 0 ? 1 : 2 : 3),
    SAME_IN_C(tid % 2   ? tid % 3 ? 1 : 2
              : tid % 5 ? 3
                        : 4),
    SAME_IN_C(tid == 0 ? 1
              : 0      ? 2
                       : 3),
    SAME_IN_C(tid < 9 ? -1 : +1),
    SAME_IN_C((tid < 32 ? tid : 63 - tid) << 2),
    SAME_IN_C(3 + (tid ? 1 : 2) + 4),
};
constexpr Case signs_in_a_row[]{
    SAME_IN_C(-(-tid)), SAME_IN_C(!(!tid)),     SAME_IN_C(-(!tid)),
    SAME_IN_C(!(-tid)), SAME_IN_C(7 * !(!tid)), SAME_IN_C(tid - -3),
};
// clang-format on

/// The value; nothing if the expression is rejected.
std::optional<Int> calculated(const std::string& text, unsigned tid) {
  try {
    IndexExpression expression(text);
    return expression(tid);
  } catch (const ExpressionError&) {
    return std::nullopt;
  }
}

std::string shown(const std::optional<Int>& value) {
  return value ? std::to_string(*value) : "error";
}

std::string without_suffix(std::string text) {
  const auto at = text.find("LL");
  return at == std::string::npos ? text : text.erase(at, 2);
}

}  // namespace

namespace {

/// Empty if the expression has C's value for every lane; otherwise the first lane that differs.
std::string difference(const std::string& text, Int (*value)(Int)) {
  for (unsigned tid = 0; tid < 64; ++tid) {
    const auto found = calculated(text, tid);
    if (found != value(Int(tid))) {
      return text + " of " + std::to_string(tid) + ": " + shown(found) + ", in C " + std::to_string(value(Int(tid)));
    }
  }
  return "";
}

}  // namespace

TEST_CASE("expressions have the values that C gives them") {
  for (const Case& each : cases) CHECK(difference(without_suffix(each.text), each.value) == "");
  // The negative control: a precedence other than C's is detected.
  CHECK(difference("(tid & 3) == 3", [](Int tid) -> Int { return tid & 3 == 3; }) != "");
}

TEST_CASE("a sign in front of a sign needs parentheses") {
  for (const Case& each : signs_in_a_row) CHECK(difference(each.text, each.value) == "");
  for (const char* text : {"- -tid", "!!tid", "-!tid", "!-tid", "7 * !!tid", "tid - - -3"}) {
    INFO(text);
    CHECK_FALSE(calculated(text, 5));
  }
}

TEST_CASE("blanks between tokens do not matter") {
  for (const char* text : {"tid*2+1", " tid * 2 + 1 ", "tid*2 +1", "   tid*2+1", "( tid )*2+ 1"}) {
    INFO(text);
    IndexExpression expression(text);
    CHECK(expression(5) == 11);
  }
}

TEST_CASE("expressions differ from C in 32-bit ~, octal numbers, and && and || that evaluate both sides") {
  IndexExpression inverted("~tid");
  CHECK(inverted(0) == 0xffffffff);   // 32 bits, whatever the range of values
  CHECK_FALSE(calculated("010", 0));  // octal in C, which is rarely intended
  IndexExpression both("tid && 8/tid"), chosen("tid ? 8/tid : 0");
  CHECK(both(4) == 1);
  CHECK_THROWS_AS(both(0), ExpressionError);  // && and || evaluate both sides
  CHECK(chosen(0) == 0);                      // ?: does not
}

namespace {

/// A formula whose value C++ computed while it was built; no value where that is an error.
struct Formula {
  std::string text;
  int precedence;  // of the outermost operator; 12 for a number
  std::optional<Int> value;
};

constexpr Int limit = Int{1} << 53;
std::optional<Int> in_range(double nearly, Int value) {
  return std::fabs(nearly) < 2.0 * double(limit) && value > -limit && value < limit ? std::optional(value)
                                                                                    : std::nullopt;
}

struct Operator {
  const char* name;
  int precedence;
  std::optional<Int> (*value)(Int, Int);
};
constexpr Operator operators[]{
    {"||", 1, [](Int a, Int b) { return std::optional<Int>(a != 0 || b != 0); }},
    {"&&", 2, [](Int a, Int b) { return std::optional<Int>(a != 0 && b != 0); }},
    {"|", 3, [](Int a, Int b) { return a < 0 || b < 0 ? std::nullopt : std::optional<Int>(a | b); }},
    {"^", 4, [](Int a, Int b) { return a < 0 || b < 0 ? std::nullopt : std::optional<Int>(a ^ b); }},
    {"&", 5, [](Int a, Int b) { return a < 0 || b < 0 ? std::nullopt : std::optional<Int>(a & b); }},
    {"==", 6, [](Int a, Int b) { return std::optional<Int>(a == b); }},
    {"!=", 6, [](Int a, Int b) { return std::optional<Int>(a != b); }},
    {"<", 7, [](Int a, Int b) { return std::optional<Int>(a < b); }},
    {"<=", 7, [](Int a, Int b) { return std::optional<Int>(a <= b); }},
    {">", 7, [](Int a, Int b) { return std::optional<Int>(a > b); }},
    {">=", 7, [](Int a, Int b) { return std::optional<Int>(a >= b); }},
    {"<<", 8,
     [](Int a, Int b) {
       return a < 0 || b < 0 || b > 52 ? std::nullopt
                                       : in_range(std::ldexp(double(a), int(b)), Int(std::uint64_t(a) << b));
     }},
    {">>", 8, [](Int a, Int b) { return a < 0 || b < 0 || b > 52 ? std::nullopt : std::optional<Int>(a >> b); }},
    {"+", 9, [](Int a, Int b) { return in_range(0, a + b); }},
    {"-", 9, [](Int a, Int b) { return in_range(0, a - b); }},
    {"*", 10, [](Int a, Int b) { return in_range(double(a) * double(b), Int(std::uint64_t(a) * std::uint64_t(b))); }},
    {"/", 10, [](Int a, Int b) { return b == 0 ? std::nullopt : std::optional<Int>(a / b); }},
    {"%", 10, [](Int a, Int b) { return b == 0 ? std::nullopt : std::optional<Int>(a % b); }},
};

class Formulas {
 public:
  /// Grown from its leaves: each of `steps` steps adds a leaf, or an operator on existing nodes.
  Formula next(Int tid, unsigned steps) {
    std::vector<Formula> parts{leaf(tid)};
    for (unsigned i = 0; i < steps || parts.size() > 1; ++i) {
      const unsigned kind = below(12);
      if (i < steps && (parts.size() < 3 || kind < 4)) {
        parts.push_back(leaf(tid));
      } else if (kind == 4 && parts.size() > 2) {
        parts.push_back(choice(taken(parts), taken(parts), taken(parts)));
      } else {
        parts.push_back(kind < 6 ? unary(taken(parts)) : binary(taken(parts), taken(parts)));
      }
    }
    return parts.back();
  }
  unsigned below(std::size_t count) { return unsigned(random_() % count); }

 private:
  static Formula taken(std::vector<Formula>& parts) {
    Formula last = std::move(parts.back());
    parts.pop_back();
    return last;
  }
  Formula leaf(Int tid) {
    constexpr Int numbers[]{0, 1, 2, 3, 5, 7, 16, 31, 33, 52, 53, 255, 4294967295, limit - 1};
    if (below(2) == 0) return {"tid", 12, tid};
    const Int number = numbers[below(std::size(numbers))];
    return {std::to_string(number), 12, number};
  }
  Formula unary(const Formula& inner) {
    const char sign = "-+~!"[below(4)];
    std::optional<Int> value = inner.value;
    if (value && sign == '-') value = -*value;
    if (value && sign == '!') value = *value == 0;
    if (value && sign == '~') value = *value < 0 ? std::nullopt : std::optional<Int>(~*value & 0xffffffff);
    return {sign + enclosed(inner, 12), 11, value};  // consecutive signs have their own test
  }
  Formula binary(const Formula& left, const Formula& right) {
    const Operator& chosen = operators[below(std::size(operators))];
    const auto value = left.value && right.value ? chosen.value(*left.value, *right.value) : std::nullopt;
    const char* blank = below(2) == 0 ? " " : "";
    return {enclosed(left, chosen.precedence) + blank + chosen.name + blank + enclosed(right, chosen.precedence + 1),
            chosen.precedence, value};
  }
  static Formula choice(const Formula& condition, const Formula& yes, const Formula& no) {
    const auto value = !condition.value ? std::nullopt : *condition.value != 0 ? yes.value : no.value;
    return {enclosed(condition, 1) + " ? " + yes.text + " : " + no.text, 0, value};
  }
  /// With parentheses only where C needs them.
  static std::string enclosed(const Formula& inner, int precedence) {
    return inner.precedence < precedence ? "(" + inner.text + ")" : inner.text;
  }
  std::mt19937 random_{53};
};

}  // namespace

TEST_CASE("random expressions have the values that C gives them") {
  Formulas formulas;
  unsigned values = 0, errors = 0, wrong = 0;
  std::string first_few;
  for (int i = 0; i < 20000; ++i) {
    const unsigned tid = formulas.below(64);
    const Formula formula = formulas.next(Int(tid), unsigned(i) % 16);
    const auto found = calculated(formula.text, tid);
    (formula.value ? values : errors) += 1;
    if (found != formula.value && ++wrong <= 5) {
      first_few +=
          formula.text + " of " + std::to_string(tid) + ": " + shown(found) + ", in C " + shown(formula.value) + '\n';
    }
  }
  INFO(first_few);
  CHECK(wrong == 0);
  // The test would also pass if every expression were an error.
  CHECK(values > 5000);
  CHECK(errors > 1000);
}
