#include "bankcheck/fit/reason_comment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include <bankwise/support/text.hpp>
#include "bankcheck/source/tokens.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// "+1 avoids bank conflicts between rows".
std::string longer_rows_text(const Declaration& declaration, const Change& change, const ArrayShape& shape) {
  const auto texts = dimension_texts(change, shape, IndexForm::rows, declaration.dimensions);
  std::size_t changed = 0;
  while (changed < texts.size() && texts[changed] == declaration.dimensions[changed]) ++changed;
  const bool is_only_one =
      changed < texts.size() && std::equal(texts.begin() + std::ptrdiff_t(changed) + 1, texts.end(),
                                           declaration.dimensions.begin() + std::ptrdiff_t(changed) + 1);
  if (!is_only_one) return "padded to avoid bank conflicts";
  const std::string& text = texts[changed];
  const std::size_t pad = text.rfind("+ ");
  const bool is_pad = pad != text.npos && text.find_first_not_of("0123456789", pad + 2) == text.npos;
  const bool is_row = changed + 1 == texts.size();
  if (!is_pad) return fmt::format("this length avoids bank conflicts between {}", is_row ? "rows" : "planes");
  return fmt::format("+{} avoids bank conflicts between {}", text.substr(pad + 2), is_row ? "rows" : "planes");
}

std::string reason_text(std::string_view source, const Declaration& declaration, const Change& change,
                        const ArrayShape& shape) {
  const bool has_pitch = declaration.pitch > 0 && shape.lengths.size() == 2;
  const auto form = form_of(change, shape);
  if (change.swizzle.bits > 0) {
    const bool is_padded = change.pads[0].every > 0;
    return fmt::format("{}swizzled to avoid bank conflicts", is_padded ? "padded and " : "");
  }
  if (form == IndexForm::rows && has_pitch) {
    std::string pitch = pitch_text(change, shape, text_of_pitch(source, declaration));
    if (pitch.starts_with('(')) pitch = pitch.substr(1, pitch.size() - 2);
    return fmt::format("rows of {} elements avoid bank conflicts", pitch);
  }
  if (form == IndexForm::rows) return longer_rows_text(declaration, change, shape);
  if (change.kind() != ChangeKind::pad) return "padded to avoid bank conflicts";
  const std::uint64_t more = change.pads[0].bytes / shape.element, every = change.pads[0].every / shape.element;
  return more == 1 ? fmt::format("one more element after every {} avoids bank conflicts", every)
                   : fmt::format("{} more elements after every {} avoid bank conflicts", more, every);
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
                                   const ArrayShape& shape) {
  if (declaration.is_parameter || !declaration.macros.empty()) return std::nullopt;
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
  const std::string comment = in_style_of(source, reason_text(source, declaration, change, shape));
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
