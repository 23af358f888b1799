#include "bankcheck/fit/edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "bankcheck/fit/edits_parts.hpp"
#include "bankcheck/fit/row_edits.hpp"
#include "bankcheck/fit/source_lines.hpp"
#include "bankcheck/fit/statements.hpp"

namespace bankwise::fit {
namespace {

bool is_cuda(const Declaration& declaration) { return declaration.qualifier == "__shared__"; }

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
    for (std::size_t d = 1; d < texts.size(); ++d) {
      if (texts[d] != before[d]) edits.push_back({places[d].begin, places[d].end, texts[d]});
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

}  // namespace bankwise::fit
