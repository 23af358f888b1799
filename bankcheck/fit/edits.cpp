#include "bankcheck/fit/edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "bankcheck/fit/edits_parts.hpp"
#include "bankcheck/fit/expressions.hpp"
#include "bankcheck/fit/functions.hpp"

namespace bankwise::fit {
namespace {

using source::SourceTokens;

bool is_cuda(const Declaration& declaration) { return declaration.qualifier == "__shared__"; }

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
  const bool is_local = is_cuda(declaration) && code.function_body(first) > 0;
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

/// Of an array with rows: other ones, or an XOR of the row into the column; otherwise why not.
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
  const std::string assertion = is_cuda(declaration) ? required_pitch(declaration, pitch) : "";
  if (const auto added = line_after(code, declaration, assertion)) edits.push_back(*added);
  return edits;
}

/// The declaration with shorter rows, if these are what a pad was added to: "TILE" of "TILE + PAD".
std::optional<Declaration> without_pad(const Declaration& declaration, const Change& change, const ArrayShape& shape) {
  const auto lengths = lengths_after(change, shape);
  if (!lengths || lengths->back() >= shape.lengths.back()) return std::nullopt;
  const Declaration::Unpadded& row = declaration.unpadded;
  if (lengths->size() != declaration.dimensions.size() || row.value != lengths->back()) return std::nullopt;
  Declaration shorter = declaration;
  shorter.dimensions.back() = row.text;
  shorter.lengths.back() = row.value;
  return shorter;
}

/// The dimensions in the declaration, or the bytes in the launches.
EditsOrWhy length_edits(const Expressions& code, const Declaration& declaration, const Change& change,
                        const ArrayShape& shape, IndexForm form) {
  std::vector<std::string> before = declaration.dimensions;
  for (std::string& dimension : before) dimension = with_parentheses(declaration, dimension);
  auto texts = dimension_texts(change, shape, form, before);
  if (const auto shorter = without_pad(declaration, change, shape)) texts.back() = shorter->dimensions.back();
  const auto& places = declaration.dimension_texts;
  const bool is_swizzled = change.swizzle.bits > 0 && is_cuda(declaration);
  if (declaration.dimensions.front().empty() && (texts != before || change.pads[0].every > 0 || is_swizzled)) {
    return launch_edits(code, declaration, change, shape);
  }
  std::vector<Edit> edits;
  if (texts.size() != places.size()) {
    edits.push_back({places.front().begin, places.back().end, texts.front()});
    return edits;
  }
  for (std::size_t d = 0; d < texts.size(); ++d) {
    if (texts[d] != before[d]) edits.push_back({places[d].begin, places[d].end, texts[d]});
  }
  return edits;
}

/// The functions that get the array declare its dimensions as well.
EditsOrWhy parameter_edits(std::string_view source, const Declaration& declaration, const Uses& uses,
                           const Change& change, const ArrayShape& shape, IndexForm form) {
  std::vector<Edit> edits;
  for (const std::vector<Extract>& places : uses.parameters) {
    std::vector<std::string> before;
    for (const Extract& place : places) {
      const std::string_view text = source::trimmed(source.substr(place.begin, place.end - place.begin));
      before.push_back(with_parentheses(declaration, std::string(text)));
    }
    const auto texts = dimension_texts(change, shape, form, before);
    if (texts.size() != before.size()) {
      return fmt::format("line {}: a function gets the array with all of its dimensions; change both by hand",
                         declaration.line);
    }
    for (std::size_t d = 0; d < texts.size(); ++d) {
      if (!before[d].empty() && texts[d] != before[d]) edits.push_back({places[d].begin, places[d].end, texts[d]});
    }
  }
  return edits;
}

/// The uses of an array without those whose index is a constant that the change does not move.
Uses moved_uses(std::string_view source, const Declaration& declaration, const Change& change, const ArrayShape& shape,
                IndexForm form) {
  Uses uses = uses_of(source, declaration, form != IndexForm::rows);
  std::erase_if(uses.uses, [&](const Use& use) {
    const auto index = std::ranges::find(declaration.constant_indices, use.begin, &ConstantIndex::at);
    if (form != IndexForm::flat || index == declaration.constant_indices.end()) return false;
    return change(index->value * shape.element) == index->value * shape.element;
  });
  return uses;
}

/// With the same indices as the arrays of `alike`, which have the same shape and change: what serves all of them, such
/// as a variable, is in the edits of each.
EditsOrWhy index_and_length_edits(std::string_view source, const Declaration& declaration,
                                  const std::vector<const Declaration*>& alike, const Change& change,
                                  const ArrayShape& shape, IndexForm form) {
  const Expressions code(source);
  std::vector<IndexedArray> arrays;
  std::size_t own = 0;
  for (const Declaration* each : alike) {
    Uses uses = moved_uses(source, *each, change, shape, form);
    if (each == &declaration) {
      own = arrays.size();
    } else if (!uses.why.empty()) {
      continue;
    }
    arrays.push_back({each, std::move(uses)});
  }
  const Uses& uses = arrays[own].uses;
  EditsOrWhy lengths = length_edits(code, declaration, change, shape, form);
  if (std::holds_alternative<std::string>(lengths)) return lengths;
  if (!uses.why.empty()) return uses.why;
  EditsOrWhy parameters = parameter_edits(source, declaration, uses, change, shape, form);
  if (std::holds_alternative<std::string>(parameters)) return parameters;
  std::vector<Edit> edits = std::get<std::vector<Edit>>(std::move(lengths));
  const auto append = [&](const std::vector<Edit>& more) { edits.insert(edits.end(), more.begin(), more.end()); };
  append(std::get<std::vector<Edit>>(parameters));
  if (is_cuda(declaration) && (!uses.uses.empty() || change.rows.to < change.rows.from)) {
    Declaration all = *arrays.front().declaration;
    all.at = arrays.back().declaration->at;
    for (std::size_t i = 1; i < arrays.size(); ++i) all.name += " and " + arrays[i].declaration->name;
    const auto line =
        line_after(code, all, required_lengths(without_pad(all, change, shape).value_or(all), change, shape, form));
    if (line) edits.push_back(*line);
  }
  append(index_edits(code, arrays, own, change, shape, form));
  append(uses.pointers);
  return edits;
}

/// Without a look at what else the source does with the length.
EditsOrWhy edits_of_uses(std::string_view source, const Declaration& declaration,
                         const std::vector<const Declaration*>& alike, const Change& change, const ArrayShape& shape) {
  const auto form = form_of(change, shape);
  if (!form) return "no index makes this change";
  if (*form == IndexForm::none) return std::vector<Edit>{};
  if (*form == IndexForm::elements)
    return fmt::format("line {}: its elements must become longer; add a member to {}", declaration.line,
                       declaration.type);
  if (!declaration.other_memory.empty()) return declaration.other_memory;
  if (declaration.lengths.size() != declaration.dimensions.size())
    return fmt::format("line {}: {}; change the indices by hand", declaration.line, declaration.unknown);
  if (!has_rows(declaration, shape)) {
    return index_and_length_edits(source, declaration, alike, change, shape, *form);
  }
  // A formula of the whole index does for any length of a row.
  const bool stays = *form == IndexForm::columns && stays_in_rows(change, shape);
  if (*form != IndexForm::flat && *form != IndexForm::order && (!stays || declaration.parameters.empty())) {
    return row_edits(source, declaration, change, shape);
  }
  const ArrayShape line{shape.element, declaration.lengths};
  const auto form_of_line = form_of(change, line);
  if (!form_of_line) return "no index makes this change";
  return index_and_length_edits(source, declaration, alike, change, line, *form_of_line);
}

/// Whether accesses of so many bytes stay whole and aligned: also those of code that has not run.
bool keeps_together(const Change& change, std::uint64_t bytes) {
  constexpr std::uint64_t word = 4;
  const std::uint64_t alignment = std::has_single_bit(bytes) ? bytes : word;
  const auto keeps = [&](const Pad& pad) {
    return pad.every == 0 || (pad.every % bytes == 0 && pad.bytes % alignment == 0);
  };
  const bool keeps_rows = change.rows.from == 0 || change.rows.to % alignment == 0;
  const bool keeps_columns = change.swizzle.bits == 0 || change.swizzle.unit() >= bytes;
  return bytes == 0 || (std::ranges::all_of(change.pads, keeps) && keeps_rows && keeps_columns);
}

}  // namespace

EditsOrWhy edits_of(std::string_view source, const Declaration& declaration, const Change& change,
                    const ArrayShape& shape, std::vector<const Declaration*> alike) {
  if (change.sequential) return sequential_edits(source, declaration);
  if (alike.empty()) alike.push_back(&declaration);
  auto edits = edits_of_uses(source, declaration, alike, change, shape);
  const auto* list = std::get_if<std::vector<Edit>>(&edits);
  const auto is_length = [&](const Edit& edit) {
    return edit.begin >= declaration.dimension_texts.front().begin &&
           edit.end <= declaration.dimension_texts.back().end;
  };
  if (list == nullptr || list->empty()) return edits;
  const Uses uses = uses_of(source, declaration, false);
  if (!keeps_together(change, uses.widest)) {
    return fmt::format("line {}: the change would tear the {} bytes that a cast accesses; change the index by hand",
                       uses.widest_line, uses.widest);
  }
  if (uses.measured_line == 0 || std::ranges::none_of(*list, is_length)) return edits;
  return fmt::format("line {}: sizeof gives the bytes of the array, which become others; write the number there",
                     uses.measured_line);
}

std::string edited(std::string_view source, std::vector<Edit> edits) {
  std::ranges::stable_sort(edits, {}, &Edit::begin);
  std::string text;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    if (edit.begin < at) continue;  // an index inside another one, which the outer edit contains
    text += std::string(source.substr(at, edit.begin - at)) + edit.text;
    at = edit.end;
  }
  return text + std::string(source.substr(at));
}

bool has_rows(const Declaration& declaration, const ArrayShape& shape) {
  return declaration.pitch > 0 && shape.lengths.size() == declaration.dimensions.size() + 1;
}

std::optional<ArrayShape> shape_of_plane(const Change& change, const ArrayShape& shape) {
  const std::size_t last = shape.lengths.size() - 1;
  const ArrayShape plane{shape.element, {shape.lengths[last - 1], shape.lengths[last]}};
  if (last == 1) return plane;
  const auto lengths = lengths_after(change, plane);
  if (!lengths || form_of(change, plane) != form_of(change, shape)) return std::nullopt;
  const std::uint64_t bytes = plane.elements() * plane.element;
  const std::uint64_t after = (*lengths)[0] * (*lengths)[1] * shape.element;
  for (std::uint64_t x = 0; x < shape.elements() * shape.element; x += shape.element) {
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

std::size_t begin_of_line(std::string_view source, std::size_t at) {
  return at == 0 ? 0 : source.rfind('\n', at - 1) + 1;  // npos + 1 is 0
}

std::size_t end_of_line(std::string_view source, std::size_t at) {
  const std::size_t end = std::min(source.find('\n', at), source.size());
  return end > at && source[end - 1] == '\r' ? end - 1 : end;
}

std::string_view indentation_at(std::string_view source, std::size_t at) {
  const std::size_t begin = begin_of_line(source, at);
  return source.substr(begin, std::min(source.find_first_not_of(" \t", begin), source.size()) - begin);
}

std::string_view line_end_of(std::string_view source) { return source.find("\r\n") == source.npos ? "\n" : "\r\n"; }

Edit line_behind(std::string_view source, std::size_t at, std::size_t indented, const std::string& text) {
  const std::size_t end = end_of_line(source, at);
  const std::string_view rest = source::trimmed(source.substr(at, end - at));
  const bool is_last = rest.empty() || (rest.starts_with("//") && !rest.ends_with('\\')) ||
                       (rest.starts_with("/*") && rest.find("*/") == rest.size() - 2);
  if (!is_last) return {at, at, " " + text};
  return {end, end, fmt::format("{}{}{}", line_end_of(source), indentation_at(source, indented), text)};
}

Edit line_before(std::string_view source, std::size_t at, const std::string& text) {
  const std::string_view indentation = indentation_at(source, at);
  const std::size_t begin = begin_of_line(source, at);
  const bool is_first = begin + indentation.size() == at;
  return {at, at, is_first ? fmt::format("{}{}{}", text, line_end_of(source), indentation) : text + " "};
}

std::optional<Edit> line_after(const source::SourceTokens& code, const Declaration& declaration,
                               const std::string& text) {
  std::size_t k = code.at_offset(declaration.at);
  while (k < code.tokens.size() && !code.is(k, ";")) ++k;
  if (text.empty() || k == code.tokens.size()) return std::nullopt;
  return line_behind(code.source, code.tokens[k].end, declaration.at, text);
}

}  // namespace bankwise::fit
