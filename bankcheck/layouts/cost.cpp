// The passes of the copies of a tile, and the changes of its plain layout that need the fewest.
#include <fmt/format.h>

#include <algorithm>

#include <bankwise/trace/trace.hpp>
#include "bankcheck/fit/accesses.hpp"
#include "bankcheck/fit/fit.hpp"
#include "bankcheck/fit/index.hpp"
#include "bankcheck/layouts/layouts.hpp"

namespace bankwise::layouts {
namespace {

using banks::Architecture;

/// All copies of the tile as a trace. An architecture with shorter warps splits the accesses.
trace::KernelTrace trace_of(const fit::Architectures& architectures, const Tile& tile,
                            const std::vector<Copy>& copies) {
  trace::KernelTrace trace;
  for (const Architecture* architecture : architectures) trace.warp = std::max(trace.warp, architecture->warp);
  trace.splits = true;
  trace.blocks = trace.levels = 1;
  trace.sites = {{"?", 0, 0, "", std::nullopt}};
  const std::uint32_t end = *std::ranges::max_element(tile.plain) + tile.element;
  trace.arrays = {{"tile", 0, end}};
  for (const Copy& copy : copies) {
    for (const LaneElements& instruction : instructions_of(tile, copy, trace.warp)) {
      const predict::Prediction access = access_of(*architectures.front(), copy, instruction, tile.plain);
      trace::Pattern pattern;
      pattern.operation = copy.operation;
      pattern.width = copy.width;
      pattern.mask = access.mask;
      pattern.addresses = access.addresses;
      pattern.count = 1;
      trace.patterns.push_back(std::move(pattern));
    }
  }
  return trace;
}

/// The plain layout as an array of rows, without gaps; otherwise as one row.
fit::ArrayShape shape_of(const Tile& tile, std::uint64_t bytes) {
  const std::uint64_t rows = tile.rows, columns = tile.columns;
  const auto is_plain = [&](bool by_row) {
    for (std::uint64_t place = 0; place < tile.plain.size(); ++place) {
      const std::uint64_t row = place / columns, column = place % columns;
      if (tile.plain[place] != (by_row ? place : column * rows + row) * tile.element) return false;
    }
    return true;
  };
  if (rows > 1 && columns > 1 && is_plain(true)) return {tile.element, {rows, columns}};
  if (rows > 1 && columns > 1 && is_plain(false)) return {tile.element, {columns, rows}};
  return {tile.element, {bytes / tile.element}};
}

/// The index, or the declaration if only the rows become longer; "" for a layout that is no array of rows.
std::string code_of(const fit::Change& change, const Tile& tile, const fit::ArrayShape& shape) {
  const auto form = form_of(change, shape);
  if (shape.lengths.size() < 2 || !form) return "";
  if (*form == fit::IndexForm::rows) {
    const std::vector<std::string> lengths{std::to_string(shape.lengths[0]), std::to_string(shape.lengths[1])};
    const std::vector<std::string> longer = dimension_texts(change, shape, *form, lengths);
    return fmt::format("tile[{}][{}]", longer[0], longer[1]);
  }
  if (*form != fit::IndexForm::columns) return "";
  const bool by_row = tile.plain[1] == tile.element;
  const std::vector<std::string> by_rows{"row", "column"}, by_columns{"column", "row"};
  return "tile" + index_text(change, shape, *form, by_row ? by_rows : by_columns);
}

Candidate candidate_of(const fit::Option& option, const Tile& tile, const fit::ArrayShape& shape,
                       const fit::Accesses& accesses) {
  const fit::Change& change = option.change;
  const std::string cute = cute_name(change, tile.swizzles_bytes ? 1 : tile.element);
  return {cute.empty() ? to_text(change) : cute, code_of(change, tile, shape), change, option.bytes,
          accesses.passes_by_architecture(change)};
}

}  // namespace

predict::Prediction access_of(const Architecture& architecture, const Copy& copy, const LaneElements& instruction,
                              const std::vector<std::uint32_t>& elements) {
  predict::Prediction access;
  access.architecture = &architecture;
  access.operation = copy.operation;
  access.width = copy.width;
  access.addresses.resize(instruction.size());
  for (std::size_t lane = 0; lane < instruction.size(); ++lane) {
    if (instruction[lane] == no_element) continue;
    access.mask |= std::uint64_t{1} << lane;
    access.addresses[lane] = elements[instruction[lane]];
  }
  return access;
}

void CopyCost::add(const predict::Prediction& access) {
  const banks::Cost& cost = access.cost;
  if (instructions == 0 || cost.conflicts_max > worst.cost.conflicts_max) {
    worst = access;
    number = instructions;
  }
  ++instructions;
  passes += cost.passes;
  ideal += cost.ideal;
  conflicts += cost.conflicts;
  passes_max += cost.passes_max;
  conflicts_max += cost.conflicts_max;
}

CopyCost cost_of(const Architecture& architecture, const Tile& tile, const Copy& copy,
                 const std::vector<std::uint32_t>& elements) {
  CopyCost total;
  for (const LaneElements& instruction : instructions_of(tile, copy, architecture.warp)) {
    predict::Prediction access = access_of(architecture, copy, instruction, elements);
    find_cost(access, predict::Space::shared);
    total.add(access);
  }
  return total;
}

BestLayouts best_layouts(const std::vector<const Architecture*>& architectures, const Tile& tile,
                         const std::vector<Copy>& copies) {
  BestLayouts best;
  if (tile.repeats) return best;
  for (const Copy& copy : copies) {
    if (!keeps_together(tile, tile.plain, copy.width, direction_of(tile, copy))) return best;
  }
  const trace::KernelTrace trace = trace_of(architectures, tile, copies);
  const fit::Accesses accesses(trace, {0}, architectures);
  const fit::ArrayShape shape = shape_of(tile, trace.arrays.front().bytes);
  fit::FamilyBounds bounds = accesses.facts().bounds;
  if (shape.row_bytes() < bounds.extent) bounds.strides.push_back(std::uint32_t(shape.row_bytes()));
  const fit::SearchResult result = search(accesses, family(bounds), shape, {});
  best.tried = result.tried;
  for (const fit::Option& option : result.best_of_kind) {
    const fit::ChangeKind kind = option.change.kind();
    if (kind == fit::ChangeKind::two_pads || kind == fit::ChangeKind::pad_and_xor) continue;
    if (kind != fit::ChangeKind::identity && option.passes >= result.best_of_kind.front().passes) continue;
    best.candidates.push_back(candidate_of(option, tile, shape, accesses));
  }
  return best;
}

}  // namespace bankwise::layouts
