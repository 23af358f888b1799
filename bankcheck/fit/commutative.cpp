#include "bankcheck/fit/edits_parts.hpp"

#include <optional>
#include <regex>
#include <vector>

#include "bankcheck/predict/predict.hpp"

namespace bankwise::fit {
namespace {

bool is_number_type(std::string_view type) {
  return predict::bytes_of_type(std::string(type.substr(0, type.find(' ')))) > 0;
}

/// Whether the source has a class of this name, whose operators may do anything.
bool is_class(const Expressions& code, std::string_view type) {
  for (std::size_t i = 1; i < code.tokens.size(); ++i) {
    const bool is_head = code.is(i - 1, "struct") || code.is(i - 1, "class");
    if (is_head && code.is(i, type) && (code.is(i + 1, "{") || code.is(i + 1, ":"))) return true;
  }
  return false;
}

/// Whether a body only returns a sum, a product, ... of the two parameters.
bool returns_sum(const Expressions& code, const std::vector<Part>& parameters, Part body) {
  static const std::regex sum(R"(return (A[+*&|^]B|B[+*&|^]A|(std::|::)?f?(min|max)f?\((A,B|B,A)\))"
                              R"(|\(?(A[<>]=?B|B[<>]=?A)\)?\?(A:B|B:A));)");
  std::string text;
  for (std::size_t i = body.begin; i < body.end; ++i) {
    const bool is_a = code.is(i, code.text(parameters[0].end - 1)), is_b = code.is(i, code.text(parameters[1].end - 1));
    text += is_a ? "A" : is_b ? "B" : code.is(i, "return") ? "return " : std::string(code.text(i));
  }
  std::size_t type = parameters[0].begin;
  while (code.is(type, "const")) ++type;
  const bool multiplies = text.find('*') != std::string::npos;
  return std::regex_match(text, sum) && (!multiplies || is_number_type(code.text(type)));
}

/// Whether all functions of two parameters with this name, or all call operators, do; nothing if there are none.
std::optional<bool> all_return_sums(const Expressions& code, std::string_view name) {
  std::optional<bool> all;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    const bool is_operator = code.is(i, "operator") && code.is(i + 1, "(") && code.is(i + 2, ")");
    const std::size_t open = name.empty() ? i + 3 : i + 1;
    if ((name.empty() ? !is_operator : !code.is(i, name)) || !code.is(open, "(")) continue;
    std::size_t body = code.past_bracket(open);
    while (code.is(body, "const") || code.is(body, "noexcept")) ++body;
    const std::vector<Part> parameters = code.arguments_at(open);
    if (!code.is(body, "{") || parameters.size() != 2) continue;  // a call, for instance
    all = all.value_or(true) && returns_sum(code, parameters, {body + 1, code.past_bracket(body) - 1});
  }
  return all;
}

}  // namespace

bool is_commutative(const Expressions& code, const std::string& statement, std::string_view type) {
  static const std::regex sum(R"(\{?(A[+*&|^]=B|A=(A[+*&|^]B|B[+*&|^]A)|A=(std::|::)?f?(min|max)f?\((A,B|B,A)\))"
                              R"(|if\((A[<>]=?B|B[<>]=?A)\)\{?A=B);\}?\}?)");
  static const std::regex call(R"(\{?A=(\w+)\((A,B|B,A)\);\}?)");
  std::smatch function;
  if (std::regex_match(statement, function, call)) {
    const auto of_name = all_return_sums(code, function[1].str());
    if (of_name ? *of_name : all_return_sums(code, "").value_or(false)) return true;
  }
  const bool multiplies = statement.find('*') != std::string::npos;
  return std::regex_match(statement, sum) && !is_class(code, type) && (!multiplies || is_number_type(type));
}

}  // namespace bankwise::fit
