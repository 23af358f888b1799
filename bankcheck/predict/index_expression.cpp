// No parser library, because in C each operand has one of four integer types, on which the value depends: -1/2 is 0,
// but -1/2u is 2147483647. muParser, the usual choice, computes with doubles, which have no such types and are exact
// only up to 2^53. Its ?: also evaluates only one side, but in C the type depends on both.
#include "bankcheck/predict/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include <bankwise/support/text.hpp>

namespace bankwise::predict {
namespace {

struct IntType {
  bool is_wide, is_unsigned;
};

/// The bits of a value: 32-bit ones are extended to 64, an int by its sign and an unsigned by zeros. Then most
/// conversions, comparisons and bit operations are the same for both widths.
using Bits = std::uint64_t;
constexpr IntType int32{false, false}, uint32{false, true}, int64{true, false}, uint64{true, true};

Bits converted(IntType type, Bits bits) {
  if (type.is_wide) return bits;
  return type.is_unsigned ? std::uint32_t(bits) : Bits(std::int64_t{std::int32_t(bits)});
}
/// The usual arithmetic conversions.
IntType common_type(IntType a, IntType b) {
  if (a.is_wide != b.is_wide) return a.is_wide ? a : b;
  return {a.is_wide, a.is_unsigned || b.is_unsigned};
}
std::string shown(IntType type, Bits bits) {
  return type.is_unsigned ? std::to_string(bits) : std::to_string(std::int64_t(bits));
}

/// The result of a signed operation, which must not overflow; unsigned ones wrap.
Bits in_range(IntType type, Bits a, const char* name, Bits b, std::int64_t result, bool overflows) {
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
void check_division(IntType type, Bits a, const char* name, Bits b) {
  if (b == 0) throw ExpressionError("it divides by zero");
  if (type.is_unsigned || std::int64_t(b) != -1) return;
  (void)in_range(type, a, name, b, std::int64_t(0 - a), std::int64_t(a) == std::numeric_limits<std::int64_t>::min());
}
Bits quotient(IntType type, Bits a, Bits b) {
  check_division(type, a, "/", b);
  return type.is_unsigned ? a / b : Bits(std::int64_t(a) / std::int64_t(b));
}
Bits remainder(IntType type, Bits a, Bits b) {
  check_division(type, a, "%", b);
  return type.is_unsigned ? a % b : Bits(std::int64_t(a) % std::int64_t(b));
}
bool is_less(IntType type, Bits a, Bits b) { return type.is_unsigned ? a < b : std::int64_t(a) < std::int64_t(b); }
unsigned shift_count(IntType type, Bits count) {
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

constexpr int precedence_of_or = 1;
// A name precedes the names that it begins with.
constexpr BinaryOperator binary_operators[]{
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
constexpr BinaryOperator negated{"-", 0, Conversion::common, arithmetic<'-'>};
constexpr BinaryOperator inverted{"~", 0, Conversion::common, [](IntType, Bits a, Bits b) { return a ^ b; }};
constexpr BinaryOperator is_zero{"!", 0, Conversion::comparison, [](IntType, Bits a, Bits b) { return Bits(a == b); }};
constexpr BinaryOperator minimum{"min", 0, Conversion::common,
                                 [](IntType type, Bits a, Bits b) { return is_less(type, b, a) ? b : a; }};
constexpr BinaryOperator maximum{"max", 0, Conversion::common,
                                 [](IntType type, Bits a, Bits b) { return is_less(type, a, b) ? b : a; }};
constexpr BinaryOperator magnitude{"abs", 0, Conversion::common, [](IntType type, Bits zero, Bits a) {
                                     return is_less(type, a, zero) ? arithmetic<'-'>(type, zero, a) : a;
                                   }};

/// A name and what follows it in the list of names.
struct KnownName {
  std::string_view name, rest;
  unsigned arguments;
  const BinaryOperator* function;  // null: the lane number
  IntType type;                    // the lane number's type
};
constexpr KnownName known_names[]{
    {"tid", "", 0, nullptr, int32},
    {"lane", "", 0, nullptr, int32},
    {"laneid", "", 0, nullptr, int32},
    {"threadIdx.x", "", 0, nullptr, uint32},
    {"get_local_id", "(0)", 1, nullptr, uint64},
    {"get_sub_group_local_id", "()", 0, nullptr, uint32},
    {"min", "(a, b)", 2, &minimum, {}},
    {"max", "(a, b)", 2, &maximum, {}},
    {"abs", "(a)", 1, &magnitude, {}},
};

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/// The first of C's types for a number of this form that holds it.
IntType type_of(Bits number, bool has_l, bool has_u, bool is_hexadecimal) {
  for (const IntType type : {int32, uint32, int64, uint64}) {
    const bool is_allowed = (type.is_wide || !has_l) && (type.is_unsigned ? has_u || is_hexadecimal : !has_u);
    const Bits largest = (type.is_wide ? ~Bits{0} : Bits{0xffffffff}) >> (type.is_unsigned ? 0 : 1);
    if (is_allowed && number <= largest) return type;
  }
  throw ExpressionError("a number without u is not below 2^63");
}

/// A value while an expression is computed. `is_number`: the expression is a number, and no more than that.
struct TypedValue {
  IntType type;
  Bits bits = 0;
  bool is_number = false;
};

TypedValue number(std::string_view word) {
  const bool is_hexadecimal = word.starts_with("0x") || word.starts_with("0X");
  const std::string_view digits = word.substr(is_hexadecimal ? 2 : 0);
  Bits bits = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), bits, is_hexadecimal ? 16 : 10);
  std::string suffix(digits.substr(std::size_t(end - digits.data())));
  std::ranges::replace(suffix, 'U', 'u');
  const bool has_u = suffix.find('u') != std::string::npos, has_l = suffix.find_first_of("lL") != std::string::npos;
  constexpr std::string_view suffixes[]{"",    "u", "l",  "ll", "ul",  "ull", "lu",
                                        "llu", "L", "LL", "uL", "uLL", "Lu",  "LLu"};
  if (end == digits.data() || std::ranges::find(suffixes, suffix) == std::end(suffixes))
    throw ExpressionError(support::in_quotes(word) + " is not an integer");
  if (digits.size() == word.size() && word[0] == '0' && end - digits.data() > 1)
    throw ExpressionError("a number begins with 0: octal or decimal?");
  if (error != std::errc{}) throw ExpressionError("a number is not below 2^64");
  return {type_of(bits, has_l, has_u, is_hexadecimal), bits, true};
}

/// Recursive descent. Each function takes its part from the front of the text and returns its value for a lane. Without
/// a lane nothing is computed, and only the syntax is checked.
class IndexParser {
 public:
  IndexParser(std::string_view text, std::optional<unsigned> tid)
      : text_(text), tid_(tid.value_or(0)), computes_(tid.has_value()) {}

  TypedValue whole() {
    const TypedValue value = conditional();
    if (rest().empty()) return value;
    if (in_name(text_[0]) || text_[0] == '(') throw ExpressionError("an operator is missing " + place());
    throw ExpressionError(support::in_quotes(text_.substr(0, 1)) + " is unexpected");
  }

 private:
  void enter() {
    constexpr unsigned deepest = 2000;  // two per parenthesis; few enough for the stack
    if (++depth_ > deepest) throw ExpressionError("it is nested too deep");
  }

  std::string_view rest() {
    text_.remove_prefix(std::min(text_.find_first_not_of(' '), text_.size()));
    return text_;
  }
  bool accept(std::string_view token) {
    if (!rest().starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) throw ExpressionError(fmt::format("a '{}' is missing {}", token, place()));
  }
  std::string place() { return rest().empty() ? "at the end" : "before " + support::in_quotes(text_, 20); }

  TypedValue applied(const BinaryOperator& operation, const TypedValue& left, const TypedValue& right) const {
    const bool is_shift = operation.conversion == Conversion::left;
    const IntType type = is_shift ? left.type : common_type(left.type, right.type);
    const bool is_truth = operation.conversion == Conversion::comparison || operation.conversion == Conversion::logical;
    TypedValue result{is_truth ? int32 : type};
    if (!computes_) return result;
    const Bits count_or_operand = is_shift ? right.bits : converted(type, right.bits);
    result.bits = operation.value(type, converted(type, left.bits), count_or_operand);
    return result;
  }

  /// Takes a part whose value is computed only if it is `needed`.
  template <class Take>
  TypedValue taken_if(bool needed, Take take) {
    const bool computes = std::exchange(computes_, computes_ && needed);
    const TypedValue value = take();
    computes_ = computes;
    return value;
  }

  // Recursion: enter() limits the depth.
  TypedValue conditional() {
    enter();
    TypedValue value = binary(precedence_of_or);
    if (accept("?")) {
      const bool condition = value.bits != 0;
      const TypedValue yes = taken_if(condition, [&] { return conditional(); });
      expect(":");
      const TypedValue no = taken_if(!condition, [&] { return conditional(); });
      const IntType type = common_type(yes.type, no.type);
      value = {type, converted(type, condition ? yes.bits : no.bits)};
    }
    --depth_;
    return value;
  }

  /// Operators of at least this precedence, from left to right.
  TypedValue binary(int precedence) {
    TypedValue left = unary();
    for (;;) {
      check_no_increment();
      const auto* const operation =
          std::ranges::find_if(binary_operators, [&](const auto& each) { return rest().starts_with(each.name); });
      if (operation == std::end(binary_operators) || operation->precedence < precedence) return left;
      text_.remove_prefix(operation->name.size());
      const bool decides = operation->conversion == Conversion::logical &&
                           (left.bits != 0) == (operation->precedence == precedence_of_or);
      left = applied(*operation, left, taken_if(!decides, [&] { return binary(operation->precedence + 1); }));
    }
  }
  // Without a blank between them, two signs are one operator in C.
  void check_no_increment() {
    if (rest().starts_with("++") || text_.starts_with("--"))
      throw ExpressionError(fmt::format("there is no operator {}", text_.substr(0, 2)));
  }

  TypedValue unary() {
    enter();
    check_no_increment();
    const TypedValue value = accept("+")   ? unary()
                             : accept("-") ? applied(negated, {int32, 0}, unary())
                             : accept("~") ? applied(inverted, {int32, ~Bits{0}}, unary())
                             : accept("!") ? applied(is_zero, {int32, 0}, unary())
                                           : operand();
    --depth_;
    return value;
  }

  TypedValue operand() {
    if (accept("(")) {
      const TypedValue inner = conditional();
      expect(")");
      return inner;
    }
    const bool is_word = !rest().empty() && in_name(text_[0]);
    if (!is_word) throw ExpressionError("an operand is missing " + place());
    const auto end = std::ranges::find_if_not(text_, in_name);
    const std::string_view word = text_.substr(0, std::size_t(end - text_.begin()));
    text_.remove_prefix(word.size());
    return word[0] <= '9' ? number(word) : name(word);  // the digits and . precede the letters and _
  }

  TypedValue name(std::string_view word) {
    const auto* const known = std::ranges::find(known_names, word, &KnownName::name);
    if (known == std::end(known_names)) throw ExpressionError(unknown(word));
    std::vector<TypedValue> arguments;
    if (!known->rest.empty()) {
      bool is_call = accept("(");
      if (is_call && !accept(")")) {
        do arguments.push_back(conditional());
        while (accept(","));
        expect(")");
      }
      is_call = is_call && arguments.size() == known->arguments;
      const auto is_0 = [](const TypedValue& value) { return value.is_number && value.bits == 0; };
      if (!is_call || (known->function == nullptr && !arguments.empty() && !is_0(arguments[0])))
        throw ExpressionError(fmt::format("{} is understood as {}{} only", word, known->name, known->rest));
    }
    if (known->function == nullptr) return {known->type, tid_};
    if (arguments.size() == 1) arguments.insert(arguments.begin(), {int32, 0});
    return applied(*known->function, arguments[0], arguments[1]);
  }

  static std::string unknown(std::string_view word) {
    std::vector<std::string_view> names;
    std::string list;
    for (const KnownName& each : known_names) {
      list += fmt::format("{}{}{}", names.empty() ? "" : ", ", each.name, each.rest);
      names.push_back(each.name);
    }
    return support::no_such_but("name", word, names, "the names are " + list);
  }

  std::string_view text_;
  unsigned tid_;
  bool computes_;
  unsigned depth_ = 0;
};

}  // namespace

IndexExpression::IndexExpression(std::string text) : text_(std::move(text)) {
  constexpr std::size_t longest = 4096;
  if (text_.find_first_not_of(" \t") == std::string::npos) throw ExpressionError("it is empty");
  if (text_.size() > longest) throw ExpressionError(fmt::format("it is longer than {} characters", longest));
  const auto printable = [](unsigned char c) { return c >= ' ' && c <= '~'; };
  if (!std::ranges::all_of(text_, printable))
    throw ExpressionError("it contains characters other than printable ASCII");
  (void)IndexParser(text_, std::nullopt).whole();
}

std::int64_t IndexExpression::operator()(unsigned tid) const {
  try {
    const TypedValue result = IndexParser(text_, tid).whole();
    if (result.type.is_unsigned && std::int64_t(result.bits) < 0)
      throw ExpressionError(fmt::format("the value {} is not below 2^63", result.bits));
    return std::int64_t(result.bits);
  } catch (const ExpressionError& error) {
    throw ExpressionError(fmt::format("{} (tid {})", error.what(), tid));
  }
}

}  // namespace bankwise::predict
