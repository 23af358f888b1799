#include "bankcheck/fit/edits_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "bankcheck/fit/functions.hpp"
#include "bankcheck/fit/source_constants.hpp"
#include "bankcheck/fit/value_ranges.hpp"
#include "bankcheck/source/tokens.hpp"

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

/// Whether the value of a text follows from those of other ones: it has one name, which is one of them.
bool follows_from(const std::string& text, const std::vector<std::string>& others) {
  const SourceTokens code(text);
  std::set<std::string> names;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (code.is_name(i)) names.emplace(code.text(i));
  }
  return names.size() == 1 && *names.begin() != text && std::ranges::find(others, *names.begin()) != others.end();
}

/// Conditions for the texts that are no numbers to have the values that the indices are made for.
std::string equalities(const std::vector<std::string>& texts, const std::vector<std::uint64_t>& values) {
  std::vector<std::string> conditions;
  for (std::size_t d = 0; d < texts.size(); ++d) {
    const std::string condition =
        fmt::format("{} == {}", is_product(texts[d]) ? texts[d] : "(" + texts[d] + ")", values[d]);
    if (!is_number(texts[d]) && !follows_from(texts[d], texts) &&
        std::ranges::find(conditions, condition) == conditions.end())
      conditions.push_back(condition);
  }
  return fmt::format("{}", fmt::join(conditions, " && "));
}

/// Of one array, or of "key and val".
std::string_view verb_for(const std::string& names) { return names.find(" and ") == names.npos ? "is" : "are"; }

std::string assertion_of(const std::string& condition, const Declaration& declaration) {
  if (condition.empty()) return "";
  return fmt::format("static_assert({}, \"{} {} laid out for these lengths\");", condition, declaration.name,
                     verb_for(declaration.name));
}

/// Whether a product has a number that is a multiple of a block: "2 * N" of blocks of two.
bool has_factor(const std::string& product, std::uint64_t block) {
  const SourceTokens code(product);
  for (std::size_t i = 0; is_product(product) && i < code.tokens.size(); i += 2) {
    const std::string factor(code.text(i));
    if (is_number(factor) && std::stoull(factor) % block == 0) return true;
  }
  return false;
}

}  // namespace

EditsOrWhy launch_edits(const SourceTokens& code, const Declaration& declaration, const Change& change,
                        const ArrayShape& shape) {
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
  if (open == 0 || change.bytes_of(bytes) > shared_without_attribute) return refusal;
  std::vector<Edit> edits;
  std::size_t launches = 0;
  SourceConstants constants;
  constants.add_source(code.source);
  const Ranges ranges(code.source, constants, {});
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    if (i == open - 1 || !code.is_name(i) || !code.is(i, code.text(open - 1))) continue;
    const auto given = dynamic_bytes_at(ranges, i);
    if (!given) return refusal;
    const std::string after = launched_bytes_text(ranges, *given, declaration, change, shape, bytes);
    if (after != code.source.substr(given->begin, given->end - given->begin))
      edits.push_back({given->begin, given->end, after});
    ++launches;
  }
  if (launches == 0) return refusal;
  return edits;
}

std::string required_lengths(const Declaration& declaration, const Change& change, const ArrayShape& shape,
                             IndexForm form) {
  const bool needs_blocks = form == IndexForm::flat && declaration.dimensions.size() == 1;
  const std::uint64_t masked = block_of_masked(change, shape), rows = block_of_rows(change, shape);
  if (!needs_blocks && masked + rows == 0 && (form != IndexForm::columns || !stays_in_rows(change, shape))) {
    return assertion_of(equalities(declaration.dimensions, declaration.lengths), declaration);
  }
  const RowXor& swizzle = change.swizzle;
  if (needs_blocks && swizzle.bits == 0) return "";  // the declaration has the right pads for each length
  std::uint64_t block = needs_blocks ? swizzle.block() : shape.element;
  if (!needs_blocks && swizzle.bits > 0) block = std::uint64_t{swizzle.row} << swizzle.bits;
  for (const Pad& pad : change.pads) block = needs_blocks || pad.every == 0 ? block : std::lcm(block, pad.every);
  block = masked + rows > 0 ? masked + rows : block / shape.element;
  const std::string& length = rows > 0 ? *(declaration.dimensions.end() - 2) : declaration.dimensions.back();
  // By the declaration, or the launches.
  const bool is_rounded = needs_blocks && (length.empty() || declaration.lengths.back() % block != 0);
  if (is_rounded || equalities({length}, {0}).empty() || has_factor(length, block)) return "";
  return fmt::format("static_assert({} % {} == 0, \"{} {} laid out in blocks of {}\");",
                     is_product(length) ? length : "(" + length + ")", block, declaration.name,
                     verb_for(declaration.name), block);
}

std::string required_pitch(const Declaration& declaration, const std::string& pitch) {
  const std::string condition =
      equalities({pitch, declaration.dimensions.back()}, {declaration.pitch, declaration.lengths.back()});
  return assertion_of(condition, declaration);
}

}  // namespace bankwise::fit
