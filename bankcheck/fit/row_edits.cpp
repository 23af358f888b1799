#include "bankcheck/fit/row_edits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bankcheck/fit/edits_parts.hpp"
#include "bankcheck/fit/functions.hpp"
#include "bankcheck/fit/source_lines.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

/// The text with another one in its last place exchanged.
std::string exchanged(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.rfind(from);
  return at == text.npos ? text : text.replace(at, from.size(), to);
}

/// The line that gives a new pitch a name before the declaration of its array, if many indices in its block have it;
/// otherwise nothing. `text`: the new pitch as an operand; becomes the name.
std::optional<Edit> named_pitch(const SourceTokens& code, const Declaration& declaration, std::string& text) {
  constexpr std::size_t many_places = 4;
  std::size_t places = 0;
  const Part block = block_of(code, declaration);
  for (const RowIndex& index : declaration.row_indices) {
    const bool is_inside =
        index.begin > declaration.at && block.end < code.tokens.size() && index.end < code.tokens[block.end].begin;
    if (!is_inside) return std::nullopt;
    places += index.pitches.size();
  }
  const std::size_t first = statement_begin(code, code.at_offset(declaration.at));
  const std::string name = declaration.name + "_pitch";
  const bool is_taken = code.source.find(name) != code.source.npos;
  const std::size_t at = code.tokens[first].begin;
  const bool is_first = indentation_at(code.source, at).end() == code.source.begin() + std::ptrdiff_t(at);
  const bool is_local = declaration.qualifier == "__shared__" && code.function_body(first) > 0;
  if (places < many_places || is_taken || !is_first || !is_local) return std::nullopt;
  std::string value = text.starts_with('(') ? text.substr(1, text.size() - 2) : text;
  if (is_number(value)) value = fmt::format("{} + {}", declaration.pitch, std::stoull(value) - declaration.pitch);
  text = name;
  return line_before(code.source, at, fmt::format("constexpr int {} = {};", name, value));
}

/// What rows that become longer, or shorter, add to an index that names no pitch: " + y * 2".
std::string added_rows_text(const Change& change, const ArrayShape& shape, const RowIndex& index) {
  const auto more = std::int64_t(lengths_after(change, shape)->back()) - std::int64_t(shape.lengths.back());
  const bool is_one = more == 1 || more == -1;
  const bool is_sum = index.other_row.find_first_of("+-") != std::string::npos;
  const std::string row = is_sum && (more < 0 || !is_one) ? fmt::format("({})", index.other_row) : index.other_row;
  return fmt::format(" {} {}{}", more < 0 ? '-' : '+', row, is_one ? "" : fmt::format(" * {}", std::abs(more)));
}

}  // namespace

bool has_rows(const Declaration& declaration, const ArrayShape& shape) {
  return declaration.pitch > 0 && shape.lengths.size() == declaration.dimensions.size() + 1;
}

std::optional<ArrayShape> shape_of_plane(const Change& change, const ArrayShape& shape) {
  const std::size_t last = shape.lengths.size() - 1;
  const ArrayShape plane{shape.element, {shape.lengths[last - 1], shape.lengths[last]}};
  if (last == 1) return plane;
  const auto lengths = lengths_after(change, plane);
  if (!lengths || form_of(change, plane) != form_of(change, shape)) return std::nullopt;
  const std::uint64_t bytes = plane.row_bytes() * plane.lengths[0];
  const std::uint64_t after = (*lengths)[0] * (*lengths)[1] * shape.element;
  std::uint64_t end = bytes;
  for (std::size_t d = 0; d + 1 < last; ++d) end *= shape.lengths[d];
  for (std::uint64_t x = 0; x < end; x += shape.element) {
    if (change(x) != x / bytes * after + change(x % bytes)) return std::nullopt;
  }
  return plane;
}

std::string text_of_pitch(const Declaration& declaration) {
  if (!declaration.length_pitch.empty()) return declaration.length_pitch;
  for (const RowIndex& index : declaration.row_indices) {
    if (!index.other_pitch.empty()) return index.other_pitch;
    if (!index.pitches.empty()) return index.pitches.front().text;
  }
  return std::to_string(declaration.pitch);
}

EditsOrWhy row_edits(std::string_view source, const Declaration& declaration, const Change& change,
                     const ArrayShape& whole) {
  const auto plane = shape_of_plane(change, whole);
  if (!plane) return fmt::format("line {}: its planes move, too; change the index by hand", declaration.line);
  const ArrayShape& shape = *plane;
  const SourceTokens code(source);
  std::vector<Edit> edits;
  const std::string pitch = text_of_pitch(declaration);
  const Extract& length = declaration.dimension_texts.back();
  const std::string before = declaration.dimensions.back(), after = rows_text(change, shape, before, pitch);
  const bool is_symbolic = form_of(change, shape) == IndexForm::rows && change.rows.from == 0;
  const std::string plain = pitch_text(change, shape, pitch);
  std::string name = plain;
  const auto line = is_symbolic ? named_pitch(code, declaration, name) : std::nullopt;
  if (line) edits.push_back(*line);
  if (after != before) edits.push_back({length.begin, length.end, exchanged(after, plain, name)});
  const auto add = [&](Edit edit) {  // several indices may share a variable
    if (std::ranges::find(edits, edit) == edits.end()) edits.push_back(std::move(edit));
  };
  for (const RowIndex& index : declaration.row_indices) {
    if (form_of(change, shape) == IndexForm::columns) {
      const std::string text = row_index_text(change, shape, index.row, index.column, pitch);
      edits.push_back({index.begin, index.end, text.substr(1, text.size() - 2)});
      continue;
    }
    for (const PitchPlace& pitch_place : index.pitches) {
      const std::string text = line ? name : pitch_text(change, shape, pitch_place.text);
      const std::string& factor = pitch_place.row;
      add({pitch_place.begin, pitch_place.end, factor.empty() ? text : fmt::format("{} * {}", factor, text)});
    }
    if (!index.other_row.empty()) add({index.end, index.end, added_rows_text(change, shape, index)});
  }
  if (is_symbolic) return edits;
  if (!declaration.parameters.empty()) {
    return fmt::format("line {}: the length of a row depends on template parameters; change the index by hand",
                       declaration.line);
  }
  const std::string assertion = declaration.qualifier == "__shared__" ? required_pitch(declaration, pitch) : "";
  if (const auto added = line_after(code, declaration, assertion)) edits.push_back(*added);
  return edits;
}

}  // namespace bankwise::fit
