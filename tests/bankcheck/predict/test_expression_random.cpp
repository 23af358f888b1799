// Random expressions, compared with the compiler's arithmetic on int, unsigned, long long and unsigned long long. The
// compiler converts the operands, so this evaluator has no rule about types.
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "bankcheck/predict/predict.hpp"
#include "tests/catch_any.hpp"

using bankwise::predict::ExpressionError;
using bankwise::predict::IndexExpression;

#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wextra"  // ?: between an int and an unsigned

namespace {

__extension__ typedef __int128 Exact;  // NOLINT(modernize-use-using): __extension__ is only for declarations
using Number = std::variant<int, unsigned, long long, unsigned long long>;
using Result = std::optional<Number>;  // nothing if C leaves it undefined

/// The exact result as the type that C gives to it.
template <class T>
Result kept(Exact exact) {
  if (std::is_unsigned_v<T>) return Number(T(exact));
  return exact < std::numeric_limits<T>::min() || exact > std::numeric_limits<T>::max() ? Result() : Number(T(exact));
}
template <class A, class B>
bool divides(A a, B b) {
  using T = decltype(a / b);
  return T(b) != 0 && kept<T>(Exact(T(a)) / Exact(T(b)));
}
template <class A, class B>
bool is_shift(A, B count) {
  return Exact(count) >= 0 && Exact(count) < std::numeric_limits<std::make_unsigned_t<A>>::digits;
}

struct Operator {
  const char* name;
  int precedence;
  Result (*value)(const Number&, const Number&);
};
/// A row of the table: on numbers of any two types `a` and `b`.
#define ON_NUMBERS(...)                                                                   \
  [](const Number& left, const Number& right) -> Result {                                 \
    return std::visit([](auto a, auto b) -> Result { return __VA_ARGS__; }, left, right); \
  }
#define EXACT(operation) kept<decltype(a operation b)>(Exact(common(a, b)) operation Exact(common(b, a)))
template <class A, class B>
auto common(A a, B) {
  return std::common_type_t<A, B>(a);
}
constexpr Operator operators[]{
    {"|", 3, ON_NUMBERS(Number(a | b))},
    {"^", 4, ON_NUMBERS(Number(a ^ b))},
    {"&", 5, ON_NUMBERS(Number(a& b))},
    {"<<", 8, ON_NUMBERS(is_shift(a, b) ? Result(a << b) : Result())},
    {">>", 8, ON_NUMBERS(is_shift(a, b) ? Result(a >> b) : Result())},
    {"+", 9, ON_NUMBERS(EXACT(+))},
    {"-", 9, ON_NUMBERS(EXACT(-))},
    // As unsigned numbers, since the exact product of two 64-bit ones may not fit; its low bits are right.
    {"*", 10,
     ON_NUMBERS(std::is_unsigned_v<decltype(a * b)> ? Result(a* b) : kept<decltype(a * b)>(Exact(a) * Exact(b)))},
    {"/", 10, ON_NUMBERS(divides(a, b) ? Result(a / b) : Result())},
    {"%", 10, ON_NUMBERS(divides(a, b) ? Result(a % b) : Result())},
    {"min", 0, ON_NUMBERS(Number(a < b ? common(a, b) : common(b, a)))},
    {"max", 0, ON_NUMBERS(Number(a > b ? common(a, b) : common(b, a)))},
    {"==", 6, ON_NUMBERS(Number(int(a == b)))},
    {"!=", 6, ON_NUMBERS(Number(int(a != b)))},
    {"<", 7, ON_NUMBERS(Number(int(a < b)))},
    {"<=", 7, ON_NUMBERS(Number(int(a <= b)))},
    {">", 7, ON_NUMBERS(Number(int(a > b)))},
    {">=", 7, ON_NUMBERS(Number(int(a >= b)))},
};
constexpr unsigned comparisons = 6;  // at the end

/// A formula, computed while it was built.
struct Formula {
  std::string text;
  int precedence;  // the outermost operator's; 12 for a number
  Number number;   // only the type matters if the formula is undefined
  bool is_defined = true;
};

bool is_true(const Number& number) {
  return std::visit([](auto a) { return a != 0; }, number);
}
std::string shown(const Number& number) {
  return std::visit([](auto a) { return std::to_string(a); }, number);
}

class Formulas {
 public:
  /// Grown from its leaves: each of `steps` steps adds a leaf, or an operator on existing nodes.
  Formula next(int tid, unsigned steps) {
    std::vector<Formula> parts{leaf(tid)};
    for (unsigned i = 0; i < steps || parts.size() > 1; ++i) {
      const unsigned kind = below(14);
      if (i < steps && (parts.size() < 3 || kind < 4)) {
        parts.push_back(leaf(tid));
      } else if (kind == 4 && parts.size() > 2) {
        const Formula no = taken(parts), yes = taken(parts);
        parts.push_back(choice(taken(parts), yes, no));
      } else if (kind < 7) {
        parts.push_back(unary(taken(parts)));
      } else {
        const Formula right = taken(parts);
        parts.push_back(kind == 7 ? logical(taken(parts), right) : binary(taken(parts), right));
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
#define NUMBER(digits) \
  { #digits, 12, digits }
  Formula leaf(int tid) {
    const auto lane = unsigned(tid);
    // clang-format off
    const Formula names[]{{"tid", 12, tid}, {"lane", 12, tid}, {"laneid", 12, tid}, {"threadIdx.x", 12, lane},
                          {"get_sub_group_local_id()", 12, lane}, {"get_local_id(0)", 12, 0ULL + lane}};
    const Formula numbers[]{
        NUMBER(0), NUMBER(1), NUMBER(2), NUMBER(3), NUMBER(7), NUMBER(16), NUMBER(31), NUMBER(32), NUMBER(33),
        NUMBER(255), NUMBER(2147483647), NUMBER(2147483648), NUMBER(0), NUMBER(0x10), NUMBER(0X7fffFFFF),
        NUMBER(0x80000000), NUMBER(0x100000000), NUMBER(0xffffffffffffffff), NUMBER(0u), NUMBER(2u),
        NUMBER(4294967295U), NUMBER(4294967296u), NUMBER(5ll), NUMBER(40L), NUMBER(9223372036854775807), NUMBER(1ull),
        NUMBER(63LLU), NUMBER(18446744073709551615uLL)};
    // clang-format on
    return below(2) == 0 ? names[below(below(2) == 0 ? 3 : std::size(names))]
                         : numbers[below(below(4) != 0 ? 6 : std::size(numbers))];
  }
  static Formula with(std::string text, int precedence, const Result& value, const Number& type) {
    return {std::move(text), precedence, value.value_or(type), value.has_value()};
  }
  Formula unary(const Formula& inner) {
    const char sign = "--~~+!a"[below(7)];
    const auto value = [&](auto a) -> Result {
      if (sign == '-') return kept<decltype(a)>(-Exact(a));
      if (sign == '~') return ~a;
      if (sign == '!') return int(a == 0);
      return sign == 'a' && a < 0 ? kept<decltype(a)>(-Exact(a)) : Number(a);
    };
    Result result = std::visit(value, inner.number);
    const Number type = sign == '!' ? Number(0) : inner.number;
    if (!inner.is_defined) result.reset();
    if (sign == 'a') return with("abs(" + inner.text + ")", 12, result, type);
    return with(std::string(below(2), ' ') + sign + ' ' + enclosed(inner, 11), 11, result, type);
  }
  Formula logical(const Formula& left, const Formula& right) {
    const bool is_or = below(2) == 0;
    const int precedence = is_or ? 1 : 2;
    const std::string text = enclosed(left, precedence) + (is_or ? "||" : " && ") + enclosed(right, precedence + 1);
    if (!left.is_defined) return {text, precedence, 0, false};
    if (is_true(left.number) == is_or) return {text, precedence, int(is_or)};
    return {text, precedence, int(is_true(right.number)), right.is_defined};
  }
  Formula binary(const Formula& left, const Formula& right) {
    const Operator& chosen = operators[below(std::size(operators) - (below(3) != 0 ? comparisons : 0))];
    Result value = chosen.value(left.number, right.number);
    // The type of a result that is undefined: 1 has a value in each operation.
    const auto ones = [](const Number& number) {
      return std::visit([](auto a) { return Number(decltype(a)(1)); }, number);
    };
    const Number type = *chosen.value(ones(left.number), ones(right.number));
    if (!left.is_defined || !right.is_defined) value.reset();
    if (chosen.precedence == 0)
      return with(std::string(chosen.name) + "(" + left.text + ", " + right.text + ")", 12, value, type);
    const char* blank = below(2) == 0 ? " " : "";
    const std::string before = right.text[0] == '-' || right.text[0] == '+' ? " " : "";  // a--b is not a - -b
    return with(enclosed(left, chosen.precedence) + blank + chosen.name + blank + before +
                    enclosed(right, chosen.precedence + 1),
                chosen.precedence, value, type);
  }
  static Formula choice(const Formula& condition, const Formula& yes, const Formula& no) {
    const bool is_yes = is_true(condition.number);
    const auto value = [&](auto a, auto b) { return Number(is_yes ? a : b); };
    const bool is_defined = condition.is_defined && (is_yes ? yes : no).is_defined;
    return {enclosed(condition, 1) + " ? " + yes.text + " : " + no.text, 0, std::visit(value, yes.number, no.number),
            is_defined};
  }
  /// With parentheses only where C needs them.
  static std::string enclosed(const Formula& inner, int precedence) {
    return inner.precedence < precedence ? "(" + inner.text + ")" : inner.text;
  }
  std::mt19937 random_{53};
};

/// As the formula's value is shown; "error" if the expression is rejected.
std::string evaluated(const std::string& text, unsigned tid) {
  try {
    IndexExpression expression(text);
    return std::to_string(expression(tid));
  } catch (const ExpressionError&) {
    return "error";
  }
}
std::string expected(const Formula& formula) {
  const auto* const wide = std::get_if<unsigned long long>(&formula.number);
  const bool is_too_large = wide != nullptr && *wide >> 63 != 0;
  return formula.is_defined && !is_too_large ? shown(formula.number) : "error";
}

}  // namespace

TEST_CASE("predict/expression_random/equals_c") {
  Formulas formulas;
  unsigned errors = 0, negative = 0, wrong = 0, outside_int = 0;
  constexpr unsigned count = 30000;
  std::string first_few;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned tid = formulas.below(64);
    const Formula formula = formulas.next(int(tid), i % 12);
    const std::string actual = evaluated(formula.text, tid), right = expected(formula);
    errors += right == "error";
    negative += right[0] == '-';
    outside_int += std::visit([&](auto a) { return right != "error" && a != int(a); }, formula.number);
    if (actual != right && ++wrong <= 5)
      first_few += formula.text + " of " + std::to_string(tid) + ": " + actual + ", in C " + right + '\n';
  }
  INFO(first_few);
  CHECK(wrong == 0);

  // The test would also pass if every expression were an error, or every type an int.
  CHECK(errors > 1000);
  CHECK(errors < count / 2);
  CHECK(negative > 1000);
  CHECK(outside_int > 300);
}
