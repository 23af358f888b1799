#include "bankcheck/fit/edits_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string>

#include <bankwise/support/text.hpp>
#include "bankcheck/fit/expressions.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// Where the elements begin that are so many bytes apart.
struct Banks {
  std::size_t before = 0, after = 0, lanes = 0;
  /// As they have not been before.
  bool are_different() const { return after == lanes && after > before; }
};

/// The array, and the bytes after which the banks repeat.
struct Layout {
  const Change& change;
  const ArrayShape& shape;
  std::uint64_t extent, period;

  /// Of as many lanes as the hardware serves together, from an offset on, or up to the end.
  Banks banks_of(std::uint64_t distance, std::uint64_t first, std::uint64_t end) const {
    constexpr std::uint64_t max_lanes = 32, bank = 4;
    const std::uint64_t lanes = max_lanes * bank / std::max(bank, shape.element);
    std::set<std::uint64_t> before, after;
    std::uint64_t lane = 0;
    for (; lane < lanes && first + lane * distance < end; ++lane) {
      before.insert((first + lane * distance) % period / bank);
      after.insert(change(first + lane * distance) % period / bank);
    }
    return {before.size(), after.size(), lane};
  }
  /// Of one plane.
  Banks column() const {
    const std::size_t dimensions = shape.lengths.size();
    return banks_of(shape.row_bytes(), 0, dimensions < 3 ? extent : shape.row_bytes() * shape.lengths[dimensions - 2]);
  }
  /// Of lanes so many bytes apart: from the last column of the first row down to the left.
  Banks diagonal(std::uint64_t stride) const {
    const std::uint64_t last = shape.row_bytes() - shape.element;
    if (stride != last) return {};
    return banks_of(last, last, last + std::min(extent / shape.row_bytes(), shape.lengths.back()) * last);
  }
};

/// "odd pitch: lanes of a column fall into different banks".
std::string rows_reason(const Layout& layout, const ConflictFacts& facts) {
  const auto& [change, shape, extent, period] = layout;
  const auto lengths = lengths_after(change, shape);
  if (!lengths || lengths->back() == shape.lengths.back()) return "padded planes: their rows fall into different banks";
  const std::uint64_t row = lengths->back() * shape.element;
  constexpr std::uint64_t bank = 4;
  const std::uint64_t unit = std::max(bank, shape.element);
  const bool is_shorter = change.rows.from > 0, is_odd = row % (2 * unit) == unit;
  const std::string_view pitch = is_shorter ? "shorter rows" : is_odd ? "odd pitch" : "padded rows";
  const bool fill_banks = is_shorter && row < period && period % row == 0;
  return fmt::format("{}: {}", pitch,
                     layout.column().are_different()                 ? "lanes of a column fall into different banks"
                     : layout.diagonal(facts.stride).are_different() ? "lanes of a diagonal fall into different banks"
                     : fill_banks                                    ? "neighbouring rows fall into different banks"
                     : facts.removed                                 ? "no bank conflicts"
                                                                     : "fewer bank conflicts");
}

/// "lanes 32 words apart fall into different banks", for the distance of the lanes if they then do, otherwise for the
/// one that gains most; "" if none does.
std::string distance_reason(const Layout& layout, std::uint64_t stride) {
  const std::uint64_t element = layout.shape.element;
  std::uint64_t best = 0;
  Banks most{1, 1, 0};
  const auto offer = [&](std::uint64_t distance) {
    const Banks banks = layout.banks_of(distance, 0, layout.extent);
    if (distance == 0 || !banks.are_different() || banks.after * most.before <= most.after * banks.before) return;
    best = distance;
    most = banks;
  };
  if (stride % element == 0) offer(stride);
  const bool is_known = best > 0;
  for (std::uint64_t distance = element; !is_known && distance < layout.extent; distance *= 2) offer(distance);
  if (!std::has_single_bit(best)) return "";  // another distance, or none, says little
  return fmt::format("lanes {} {} apart fall into different banks", best / element,
                     element == 4 ? "words" : "elements");
}

std::string reason_text(const Change& change, const ArrayShape& shape, const ConflictFacts& facts) {
  const IndexForm form = *form_of(change, shape);
  const bool is_swizzled = change.swizzle.bits > 0;
  const Layout layout{change, shape, shape.elements() * shape.element, facts.period};
  if (form == IndexForm::rows && change.parts() <= 1) return rows_reason(layout, facts);
  if (change.parts() == 1) {
    const Banks column = layout.column();
    const bool is_shorter = change.rows.from > 0 && column.after == column.lanes;
    const bool has_column = shape.lengths.size() > 1 && (column.are_different() || is_shorter);
    const std::string reason =
        has_column ? "lanes of a column fall into different banks" : distance_reason(layout, facts.stride);
    if (!reason.empty()) return fmt::format("{}: {}", is_swizzled ? "swizzled" : "padded", reason);
  }
  const bool is_padded = change.pads[0].every > 0;
  return fmt::format("{}: {} bank conflicts",
                     !is_swizzled ? "padded"
                     : is_padded  ? "padded and swizzled"
                                  : "swizzled",
                     facts.removed ? "no" : "fewer");
}

/// "//", or "/*" if the source has no other comments.
std::string in_style_of(std::string_view source, std::string_view text) {
  const bool is_c = source.find("//") == source.npos && source.find("/*") != source.npos;
  return is_c ? fmt::format("/* {} */", text) : fmt::format("// {}", text);
}

}  // namespace

std::optional<Edit> reason_comment(std::string_view source, const Declaration& declaration, const Change& change,
                                   const ArrayShape& shape, const ConflictFacts& facts) {
  if (declaration.is_parameter) return std::nullopt;
  const SourceTokens code(source);
  const std::size_t name = code.at_offset(declaration.at);
  const std::size_t first = statement_begin(code, name);
  std::size_t last = name;  // of the statement
  while (last < code.tokens.size() && !code.is(last, ";") && !code.is(last, ",") && !code.is(last, "{")) {
    last = code.is(last, "[") || code.is(last, "(") ? code.past_bracket(last) : last + 1;
  }
  if (!code.is(last, ";") || has_token(code, {first, name}, ",")) return std::nullopt;
  const std::size_t begin = begin_of_line(source, code.tokens[first].begin), after = code.tokens[last].end;
  const std::size_t end = end_of_line(source, after);
  if (source.substr(begin, end - begin).find('\\') != source.npos) return std::nullopt;  // lines of a macro
  const std::string comment = in_style_of(source, reason_text(change, shape, facts));
  constexpr std::size_t max_columns = 100;
  const std::size_t columns = end - begin_of_line(source, after) + comment.size();
  if (source::trimmed(source.substr(after, end - after)).empty() && columns <= max_columns) {
    return Edit{after, after, "  " + comment};
  }
  return comment_before(source, code.tokens[first].begin, reason_text(change, shape, facts));
}

std::optional<Edit> comment_before(std::string_view source, std::size_t at, std::string_view text) {
  const std::size_t begin = begin_of_line(source, at);
  const std::string_view indentation = source.substr(begin, at - begin);
  if (!source::trimmed(indentation).empty()) return std::nullopt;
  return Edit{begin, begin, fmt::format("{}{}{}", indentation, in_style_of(source, text), line_end_of(source))};
}

}  // namespace bankwise::fit
