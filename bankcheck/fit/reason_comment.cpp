#include "bankcheck/fit/reason_comment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include <bankwise/support/text.hpp>
#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// Where the elements begin that are so many bytes apart.
struct Banks {
  std::size_t before = 0, after = 0;
  bool are_more() const { return after > before; }
  std::string text() const { return fmt::format("{} banks instead of {}", after, before); }
};

/// Of the first 32 of them, or fewer, from an offset on. `period`: the bytes after which the banks repeat.
Banks banks_of(const Change& change, std::uint64_t distance, std::uint64_t extent, std::uint64_t period,
               std::uint64_t first = 0) {
  constexpr std::uint64_t lanes = 32, bank = 4;
  std::set<std::uint64_t> before, after;
  for (std::uint64_t lane = 0; lane < lanes && first + lane * distance < extent; ++lane) {
    before.insert((first + lane * distance) % period / bank);
    after.insert(change(first + lane * distance) % period / bank);
  }
  return {before.size(), after.size()};
}

std::string_view elements_text(const ArrayShape& shape) { return shape.element == 4 ? "words" : "elements"; }

/// "33 words a row: a column falls into 32 banks instead of 1".
std::string rows_reason(const Change& change, const ArrayShape& shape, std::uint64_t extent, std::uint64_t period) {
  const auto lengths = lengths_after(change, shape);
  const Banks banks = banks_of(change, shape.row_bytes(), extent, period);
  const bool are_rows = lengths && lengths->back() != shape.lengths.back();
  if (are_rows && banks.are_more()) {
    return fmt::format("{} {} a row: a column falls into {}", lengths->back(), elements_text(shape), banks.text());
  }
  // From the last column of the first row down to the left.
  const std::uint64_t last = shape.row_bytes() - shape.element;
  const std::uint64_t lanes = std::min(extent / shape.row_bytes(), shape.lengths.back());
  const Banks diagonal = banks_of(change, last, last + lanes * last, period, last);
  if (are_rows && change.rows.from == 0 && diagonal.are_more()) {
    return fmt::format("{} {} a row: a diagonal falls into {}", lengths->back(), elements_text(shape), diagonal.text());
  }
  const std::uint64_t row = lengths ? lengths->back() * shape.element : 0;
  if (change.rows.from > 0 && row > 0 && row < period && period % row == 0) {
    return fmt::format("without a pad {} rows of {} {} fill the banks", period / row, lengths->back(),
                       elements_text(shape));
  }
  return fmt::format("this length avoids bank conflicts between {}", are_rows ? "rows" : "planes");
}

/// "words 32 apart fall into 32 banks instead of 1", for the distance of the lanes if it gains, otherwise for the one
/// that gains most; "" if none does.
std::string distance_reason(const Change& change, const ArrayShape& shape, std::uint64_t extent,
                            const ConflictFacts& facts) {
  std::uint64_t best = 0;
  Banks most{1, 1};
  const auto offer = [&](std::uint64_t distance) {
    const Banks banks = banks_of(change, distance, extent, facts.period);
    if (distance == 0 || banks.after * most.before <= most.after * banks.before) return;
    best = distance;
    most = banks;
  };
  if (facts.stride % shape.element == 0) offer(facts.stride);
  const bool is_known = best > 0;
  for (std::uint64_t distance = shape.element; !is_known && distance < extent; distance *= 2) offer(distance);
  if (best == 0) return "";
  return fmt::format("{} {} apart fall into {}", elements_text(shape), best / shape.element, most.text());
}

std::string reason_text(const Change& change, const ArrayShape& shape, const ConflictFacts& facts) {
  const IndexForm form = *form_of(change, shape);
  const bool is_swizzled = change.swizzle.bits > 0;
  std::uint64_t extent = shape.element;
  for (const std::uint64_t length : shape.lengths) extent *= length;
  if (form == IndexForm::rows && change.parts() <= 1) return rows_reason(change, shape, extent, facts.period);
  if (change.parts() == 1 && change.rows.from > 0) {
    return fmt::format("swizzled: a column falls into {} banks without a pad",
                       banks_of(change, shape.row_bytes(), extent, facts.period).after);
  }
  if (change.parts() == 1) {
    const Banks column = banks_of(change, shape.row_bytes(), extent, facts.period);
    const bool has_rows = shape.lengths.size() > 1;
    const std::string reason = has_rows && column.are_more() ? "a column falls into " + column.text()
                                                             : distance_reason(change, shape, extent, facts);
    if (!reason.empty()) return fmt::format("{}: {}", is_swizzled ? "swizzled" : "padded", reason);
  }
  const bool is_padded = change.pads[0].every > 0;
  return fmt::format("{}to avoid bank conflicts", !is_swizzled ? "padded "
                                                  : is_padded  ? "padded and swizzled "
                                                               : "swizzled ");
}

std::size_t begin_of_line(std::string_view source, std::size_t at) {
  return at == 0 ? 0 : source.rfind('\n', at - 1) + 1;  // npos + 1 is 0
}

/// "//", or "/*" if the source has no other comments.
std::string in_style_of(std::string_view source, const std::string& text) {
  const bool is_c = source.find("//") == source.npos && source.find("/*") != source.npos;
  return is_c ? fmt::format("/* {} */", text) : "// " + text;
}

}  // namespace

std::optional<Edit> reason_comment(std::string_view source, const Declaration& declaration, const Change& change,
                                   const ArrayShape& shape, const ConflictFacts& facts) {
  if (declaration.is_parameter) return std::nullopt;
  const SourceTokens code(source);
  std::size_t name = 0;
  while (name < code.tokens.size() && code.tokens[name].begin < declaration.at) ++name;
  std::size_t first = name, last = name;  // of the statement
  while (first > 0 && !code.is(first - 1, ";") && !code.is(first - 1, "{") && !code.is(first - 1, "}")) --first;
  while (last < code.tokens.size() && !code.is(last, ";") && !code.is(last, ",") && !code.is(last, "{")) {
    last = code.is(last, "[") || code.is(last, "(") ? code.past_bracket(last) : last + 1;
  }
  bool is_one = code.is(last, ";");
  for (std::size_t i = first; i < name; ++i) is_one &= !code.is(i, ",");
  if (!is_one) return std::nullopt;
  const std::size_t begin = begin_of_line(source, code.tokens[first].begin), after = code.tokens[last].end;
  std::size_t end = std::min(source.find('\n', after), source.size());
  const std::string_view line_end = end > after && source[end - 1] == '\r' ? "\r\n" : "\n";
  if (line_end.size() == 2) --end;
  if (source.substr(begin, end - begin).find('\\') != source.npos) return std::nullopt;  // lines of a macro
  const std::string comment = in_style_of(source, reason_text(change, shape, facts));
  constexpr std::size_t max_columns = 100;
  const std::size_t columns = end - begin_of_line(source, after) + comment.size();
  if (source::trimmed(source.substr(after, end - after)).empty() && columns <= max_columns) {
    return Edit{after, after, "  " + comment};
  }
  const std::string_view indentation = source.substr(begin, code.tokens[first].begin - begin);
  if (!source::trimmed(indentation).empty()) return std::nullopt;
  return Edit{begin, begin, fmt::format("{}{}{}", indentation, comment, line_end)};
}

}  // namespace bankwise::fit
