#include "bankcheck/fit/edits_parts.hpp"

#include <fmt/format.h>

#include <set>

#include "bankcheck/fit/functions.hpp"
#include "bankcheck/fit/source_constants.hpp"
#include "bankcheck/fit/value_ranges.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// The other factors of a product with the bytes of an element, "n * 2" of "n * 2 * sizeof(float)"; "" if it is none.
std::string without_sizeof(const std::string& product, const std::string& type) {
  const SourceTokens code(product);
  std::string factors;
  bool is_found = false;
  for (std::size_t i = 0, end = 0; i < code.tokens.size(); i = end + 1) {
    for (end = i; end < code.tokens.size() && !code.is(end, "*");) {
      const bool is_bracket = code.is(end, "(") || code.is(end, "[");
      if (!is_bracket && code.tokens[end].kind == source::TokenKind::mark && !code.is(end, ".")) return "";
      end = is_bracket ? code.past_bracket(end) : end + 1;
    }
    if (end == i) return "";
    const bool is_bytes =
        !is_found && code.is(i, "sizeof") && code.is(i + 1, "(") && code.is(i + 2, type) && end == i + 4;
    is_found = is_found || is_bytes;
    const std::size_t begin = code.tokens[i].begin;
    if (!is_bytes) factors += (factors.empty() ? "" : " * ") + product.substr(begin, code.tokens[end - 1].end - begin);
  }
  return is_found ? factors : "";
}

/// Whether a variable is a power of two wherever it is used: all of its values are 1 << k, or it is shifted.
bool is_power_of_two(const Ranges& code, std::size_t name) {
  const Part function = code.function_at(name);
  bool is_assigned = false;
  for (std::size_t i = function.begin; i < function.end; ++i) {
    if (!code.is(i, code.text(name))) continue;
    const Ranges::Writing writing = code.writing_at(i, function);
    const bool is_shift = code.is(i + 2, code.text(i + 1)) && (code.is(i + 1, "<") || code.is(i + 1, ">"));
    if (writing == Ranges::Writing::assignment) {
      const std::size_t end = code.next_outside(i + 2, function.end, ",;)");
      const bool is_one = code.is(i + 2, "1") && code.is(i + 3, "<") && code.is(i + 4, "<");
      if (!is_one || code.next_outside(i + 5, end, "<>&|^?") < end) return false;
      is_assigned = true;
    } else if (writing != Ranges::Writing::none && !(writing == Ranges::Writing::step && is_shift)) {
      return false;
    }
  }
  return is_assigned;
}

/// The bytes of a launch after the change. Unless they are a constant, another launch may give more, which need pads
/// even if `bytes` end before the first one. An XOR needs whole blocks, which only a constant or a power of two has for
/// certain: an XOR of a number below a power of two stays below.
std::string launched_bytes_text(const Ranges& code, const Extract& place, const Declaration& declaration,
                                const Change& change, const ArrayShape& shape, std::uint64_t bytes) {
  const std::string expression(code.source.substr(place.begin, place.end - place.begin));
  const std::string elements = without_sizeof(expression, declaration.type);
  const std::string& length = elements.empty() ? expression : elements;
  std::size_t name = code.at_offset(place.begin);
  while (name < code.tokens.size() && code.tokens[name].begin < place.end && !code.is(name, length)) ++name;
  const bool is_constant = code.constants().value_of(expression) == bytes;
  const bool is_whole = is_constant || (code.is_name(name) && code.is(name, length) && is_power_of_two(code, name));
  constexpr std::uint64_t in_no_blocks = (std::uint64_t{1} << 22) - 1;  // and an XOR needs the byte after the last
  const std::uint64_t most = is_constant ? bytes : bytes << 12;
  const std::uint64_t known = change.swizzle.bits == 0 || is_whole ? most : in_no_blocks;
  if (!elements.empty()) {
    const std::string text =
        dimension_texts(change, {shape.element, {known / shape.element}}, IndexForm::flat, {elements}).front();
    const std::string factor = change.pads[0].every == 0 ? text : "(" + text + ")";
    return text == elements ? expression : fmt::format("{} * sizeof({})", factor, declaration.type);
  }
  return dimension_texts(change, {1, {known}}, IndexForm::flat, {expression}).front();
}

/// The line of a second pointer into the array, or of the first one that does not point to its begin; 0 if there is
/// none: `float* a = all; float* b = &a[n];`.
std::size_t line_of_division(const SourceTokens& code, const Declaration& declaration) {
  std::set<std::string_view> pointers{declaration.name};
  const std::size_t body = body_around(code, declaration), end = body == 0 ? 0 : code.past_bracket(body);
  for (std::size_t i = code.at_offset(declaration.at) + 1; i + 2 < end; ++i) {
    if (!code.is(i, "=") || !code.is_name(i - 1) || !code.is(i - 2, "*") || !code.is_name(i - 3)) continue;
    for (std::size_t k = i + 1; k < end && !code.is(k, ";"); ++k) {
      if (!code.is_name(k) || !pointers.contains(code.text(k)) || code.is(k - 1, ".")) continue;
      const bool is_offset = code.is(k + 1, "[") || code.is(k + 1, "+");
      if (is_offset || pointers.size() > 1) return code.line(i);
      pointers.insert(code.text(i - 1));
      break;
    }
  }
  return 0;
}

}  // namespace

EditsOrWhy launch_edits(const SourceTokens& code, const Declaration& declaration, const Change& change,
                        const ArrayShape& shape) {
  constexpr std::uint64_t max_bytes = 48 * 1024;  // more need cudaFuncSetAttribute()
  if (const std::size_t line = line_of_division(code, declaration); line > 0) {
    return fmt::format("line {}: pointers divide this array into several; declare each as an array of its own", line);
  }
  if (!declaration.launched_in.empty()) {
    return fmt::format(
        "line {}: {} is also launched in {}, and every launch must give this array more bytes; change all by hand",
        declaration.line, declaration.function, declaration.launched_in);
  }
  const std::string refusal =
      fmt::format("line {}: the launch gives the bytes of this array, and must give it more; change both by hand",
                  declaration.line);
  const std::size_t body = body_around(code, declaration);
  const std::size_t open = body > 0 && declaration.qualifier == "__shared__" ? code.opening(body - 1) : 0;
  const std::uint64_t bytes = shape.element * (shape.lengths.empty() ? 0 : shape.lengths.front());
  if (open == 0 || change.bytes_of(bytes) > max_bytes) return refusal;
  std::vector<Edit> edits;
  std::size_t launches = 0;
  SourceConstants constants;
  constants.add_source(code.source);
  const Ranges ranges(code.source, constants, {});
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (i == open - 1 || !code.is_name(i) || !code.is(i, code.text(open - 1))) continue;
    const auto given = dynamic_bytes_at(code, i);
    if (!given) return refusal;
    const std::string after = launched_bytes_text(ranges, *given, declaration, change, shape, bytes);
    if (after != code.source.substr(given->begin, given->end - given->begin))
      edits.push_back({given->begin, given->end, after});
    ++launches;
  }
  if (launches == 0) return refusal;
  return edits;
}

}  // namespace bankwise::fit
