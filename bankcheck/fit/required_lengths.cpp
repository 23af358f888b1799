#include "bankcheck/fit/edits_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

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
