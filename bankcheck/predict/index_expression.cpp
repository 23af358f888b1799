// SPDX-License-Identifier: MIT
//
// muParser computes with doubles. Integer operators replace its built-in ones. They are exact between -2^53 and 2^53; a
// value outside that range is an error, never a rounded number.
#include "bankcheck/predict/index_expression.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace bankwise {
namespace {

using Value = mu::value_type;
constexpr double limit = 9007199254740992;  // 2^53

Value within_limits(double value) {
  if (!(std::fabs(value) < limit)) throw ExpressionError("a value is not below 2^53");
  return value;
}
std::int64_t integer(Value value) {
  return std::int64_t(within_limits(value));
}
std::uint64_t bits(Value value) {
  if (value < 0) throw ExpressionError("an operand of << >> & ^ | or ~ is negative");
  return std::uint64_t(integer(value));
}
std::uint64_t shift(Value value) {
  if (value < 0 || value > 52) throw ExpressionError("a shift is not between 0 and 52");
  return std::uint64_t(integer(value));
}
std::int64_t divisor(Value value) {
  if (value == 0) throw ExpressionError("it divides by zero");
  return integer(value);
}

struct Binary {
  const char* name;
  Value (*value)(Value, Value);
  int precedence;  // as in C
};
// A product or sum of numbers below 2^53 that leaves the range still does so after rounding, so the check catches it.
constexpr Binary binary[]{
    {"||", [](Value a, Value b) { return Value(a != 0 || b != 0); }, 1},
    {"&&", [](Value a, Value b) { return Value(a != 0 && b != 0); }, 2},
    {"|", [](Value a, Value b) { return within_limits(double(bits(a) | bits(b))); }, 3},
    {"^", [](Value a, Value b) { return within_limits(double(bits(a) ^ bits(b))); }, 4},
    {"&", [](Value a, Value b) { return Value(bits(a) & bits(b)); }, 5},
    {"==", [](Value a, Value b) { return Value(a == b); }, 6},
    {"!=", [](Value a, Value b) { return Value(a != b); }, 6},
    {"<", [](Value a, Value b) { return Value(a < b); }, 7},
    {"<=", [](Value a, Value b) { return Value(a <= b); }, 7},
    {">", [](Value a, Value b) { return Value(a > b); }, 7},
    {">=", [](Value a, Value b) { return Value(a >= b); }, 7},
    {"<<", [](Value a, Value b) { return within_limits(double(bits(a)) * double(std::uint64_t{1} << shift(b))); }, 8},
    {">>", [](Value a, Value b) { return Value(bits(a) >> shift(b)); }, 8},
    {"+", [](Value a, Value b) { return within_limits(a + b); }, 9},
    {"-", [](Value a, Value b) { return within_limits(a - b); }, 9},
    {"*", [](Value a, Value b) { return within_limits(a * b); }, 10},
    {"/", [](Value a, Value b) { return Value(std::int64_t{integer(a) / divisor(b)}); }, 10},
    {"%", [](Value a, Value b) { return Value(integer(a) % divisor(b)); }, 10},
};

/// muParser's callback: 1 and the value if a number begins at `text`, otherwise 0. Moves `position` past the number.
int number(const mu::char_type* text, int* position, Value* value) {
  const bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (text[0] < '0' || text[0] > '9') return 0;
  if (text[0] == '0' && text[1] >= '0' && text[1] <= '9')
    throw ExpressionError("a number begins with 0: octal or decimal?");
  char* end = nullptr;
  errno = 0;
  const unsigned long long parsed = std::strtoull(text, &end, hexadecimal ? 16 : 10);
  if (errno != 0 || parsed >= std::uint64_t(limit)) throw ExpressionError("a number is not below 2^53");
  if (std::isalnum(static_cast<unsigned char>(*end)) || *end == '.' || *end == '_') {
    throw ExpressionError(
        fmt::format("'{}{}' is not an integer", std::string_view(text, std::size_t(end - text)), *end));
  }
  *position += int(end - text);
  *value = Value(parsed);
  return 1;
}

/// The parser's error message, truncated: it may contain a name of thousands of letters.
std::string sentence_of(const mu::ParserError& error) {
  constexpr std::size_t longest = 200;
  const std::string& text = error.GetMsg();
  return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

}  // namespace

/// A muParser without built-ins: it knows the operators and the variable that are defined here, and nothing else.
struct IndexExpression::Parser : mu::ParserBase {
  Value tid = 0;

  explicit Parser(const std::string& text) {
    Parser::InitCharSets();
    EnableBuiltInOprt(false);
    EnableOptimizer(false);
    AddValIdent(number);
    for (const Binary& each : binary) DefineOprt(each.name, each.value, unsigned(each.precedence), mu::oaLEFT, false);
    DefineInfixOprt(
        "-", [](Value a) { return -a; }, 11, false);
    DefineInfixOprt(
        "+", [](Value a) { return a; }, 11, false);
    DefineInfixOprt(
        "~", [](Value a) { return Value(0xFFFFFFFFU & ~bits(a)); }, 11, false);
    DefineInfixOprt(
        "!", [](Value a) { return Value(a == 0); }, 11, false);
    DefineVar("tid", &tid);
    SetExpr(text);
  }
  void InitCharSets() override {
    DefineNameChars("0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    DefineOprtChars("+-*/%<>=!&|^~");
    DefineInfixOprtChars("+-~!");
  }
  void InitFun() override {}
  void InitConst() override {}
  void InitOprt() override {}
};

IndexExpression::IndexExpression(const std::string& text) {
  constexpr std::size_t longest = 4096;
  if (text.find_first_not_of(" \t") == std::string::npos) throw ExpressionError("it is empty");
  if (text.size() > longest) throw ExpressionError(fmt::format("it is longer than {} characters", longest));
  const auto printable = [](unsigned char c) { return c >= ' ' && c <= '~'; };
  if (!std::all_of(text.begin(), text.end(), printable))
    throw ExpressionError("it contains characters other than printable ASCII");
  try {
    parser_ = std::make_unique<Parser>(text);
  } catch (const mu::ParserError& error) {
    throw ExpressionError(sentence_of(error));
  }
}

IndexExpression::~IndexExpression() = default;

std::int64_t IndexExpression::operator()(unsigned tid) {
  parser_->tid = tid;
  try {
    int results = 0;
    const Value* values = parser_->Eval(results);
    if (results != 1) throw ExpressionError("it has more than one value");
    return integer(values[0]);
  } catch (const mu::ParserError& error) {
    throw ExpressionError(sentence_of(error));
  } catch (const ExpressionError& error) {
    throw ExpressionError(fmt::format("{} (tid {})", error.what(), tid));
  }
}

bool IndexExpression::available() {
  return true;
}

}  // namespace bankwise
