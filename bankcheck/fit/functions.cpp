#include "bankcheck/fit/functions.hpp"

#include <algorithm>

#include <bankwise/support/text.hpp>

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// The parenthesis of a call, after the template arguments if there are some; 0 if it is no call.
std::size_t parenthesis_of(const SourceTokens& code, std::size_t name) {
  std::size_t i = name + 1;
  int depth = 0;
  for (; code.is(i, "<") || depth > 0; ++i) {
    depth += int(code.is(i, "<")) - int(code.is(i, ">"));
    if (i >= code.tokens.size() || ends_statement(code, i)) return 0;
  }
  return code.is(i, "(") ? i : 0;
}

/// Whether a name before a parenthesis, in no function, declares one: a type is before it, and no value.
bool declares(const SourceTokens& code, std::size_t name) {
  constexpr std::string_view statements = "return else do goto throw co_return co_yield co_await";
  const bool follows_type = code.is(name - 1, "*") || code.is(name - 1, "&") ||
                            (code.is_name(name - 1) && !support::has_word(statements, code.text(name - 1)));
  return follows_type && !has_token(code, {statement_begin(code, name), name}, "=");
}

}  // namespace

FunctionPlaces places_of(const SourceTokens& code, std::string_view name) {
  FunctionPlaces places;
  int depth = 0;  // of brackets in a function's body; 0: not in one
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (depth > 0 || (code.is(i, "{") && code.is(i - 1, ")"))) depth += int(code.is(i, "{")) - int(code.is(i, "}"));
    if (!code.is_name(i) || !code.is(i, name)) continue;
    const std::size_t open = parenthesis_of(code, i), after = open == 0 ? 0 : code.past_bracket(open);
    if (open > 0 && code.is(after, "{")) {
      places.definitions.push_back(open);
      places.is_template = code.is(statement_begin(code, i), "template");
    } else if (open == 0 || depth > 0 || !declares(code, i) || !code.is(after, ";")) {
      places.calls.push_back(i);
    }
  }
  return places;
}

Part block_of(const SourceTokens& code, const Declaration& declaration) {
  const std::size_t name = code.at_offset(declaration.at);
  const int outside = declaration.is_parameter ? 0 : -1;
  int depth = 0;
  std::size_t end = name + 1;
  for (; end < code.tokens.size(); ++end) {
    if (code.is(end, "{")) ++depth;
    if (code.is(end, "}") && --depth <= outside) break;
  }
  return {name + 1, end};
}

std::size_t body_around(const SourceTokens& code, const Declaration& declaration) {
  const std::size_t name = code.at_offset(declaration.at);
  for (std::size_t k = name; declaration.is_parameter && k < code.tokens.size(); ++k) {
    if (code.is(k, "{")) return k;
  }
  return code.function_body(name);
}

bool are_side_by_side(const SourceTokens& code, const Declaration& a, const Declaration& b) {
  const bool are_local = !a.is_parameter && !b.is_parameter && body_around(code, a) > 0;
  return are_local && a.dimensions == b.dimensions && a.qualifier == b.qualifier &&
         block_of(code, a).end == block_of(code, b).end;
}

std::vector<Part> arguments_of_call(const Expressions& code, std::size_t name) {
  const std::size_t open = parenthesis_of(code, name);
  return open == 0 ? std::vector<Part>() : code.arguments_at(open);
}

ArgumentPlace argument_at(const SourceTokens& code, std::size_t i) {
  std::size_t open = std::max<std::size_t>(i, 1) - 1, number = 0;
  for (int depth = 0; open > 0 && !ends_statement(code, open); --open) {
    depth += int(code.is(open, ")")) - int(code.is(open, "("));
    if (depth < 0) break;
    if (depth == 0 && code.is(open, ",")) ++number;
  }
  return {callee_before(code, open), number};
}

std::optional<std::size_t> name_of_parameter(const SourceTokens& code, Part parameter) {
  std::size_t end = parameter.begin;
  while (end < parameter.end && !code.is(end, "=")) ++end;
  return end > parameter.begin && code.is_name(end - 1) ? std::optional(end - 1) : std::nullopt;
}

std::optional<ArgumentPlace> parameter_at(const Expressions& code, std::size_t name) {
  const std::size_t body = code.function_body(name);
  if (body == 0) return std::nullopt;
  const std::size_t open = code.opening(body - 1);
  if (open == 0 || !code.is_name(open - 1)) return std::nullopt;
  for (const std::string_view kernel : {"__global__", "kernel", "__kernel"}) {
    if (has_token(code, {statement_begin(code, open), open}, kernel)) return std::nullopt;
  }
  const std::vector<Part> parameters = code.arguments_at(open);
  for (std::size_t number = 0; number < parameters.size(); ++number) {
    for (std::size_t k = parameters[number].begin; k < parameters[number].end; ++k) {
      const bool is_wrapped = code.is(k + 1, ")") && code.is(k + 2, "[");  // (*t)[32]
      const bool ends = k + 1 == parameters[number].end || is_wrapped || code.is(k + 1, "[") || code.is(k + 1, "=");
      if (ends && code.is(k, code.text(name))) return ArgumentPlace{open - 1, number};
    }
  }
  return std::nullopt;
}

std::optional<Extract> dynamic_bytes_at(const Expressions& code, std::size_t name) {
  const std::size_t launch = code.launch_behind(name), begin = launch + 3;
  if (launch == 0) return std::nullopt;
  std::size_t end = code.next_outside(begin, code.tokens.size(), ">;");
  while (code.is(end, ">") && !code.is(end + 1, ">")) end = code.next_outside(end + 1, code.tokens.size(), ">;");
  const std::vector<Part> arguments = code.split({begin, end}, ",");
  if (!code.is(end, ">") || arguments.size() < 3 || arguments[2].size() == 0) return std::nullopt;
  return Extract{code.tokens[arguments[2].begin].begin, code.tokens[arguments[2].end - 1].end};
}

std::size_t line_of_launch(std::string_view source, std::string_view kernel) {
  const SourceTokens code(source);
  const FunctionPlaces places = places_of(code, kernel);
  if (!places.definitions.empty()) return 0;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (!code.is_name(i) || !code.is(i, kernel)) continue;
    if (code.launch_behind(i) > 0) return code.line(i);
    for (std::size_t k = statement_begin(code, i); k < i; ++k) {  // cudaLaunchKernel(k, ...)
      if (code.text(k).find("Launch") != std::string_view::npos) return code.line(i);
    }
  }
  return 0;
}

}  // namespace bankwise::fit
