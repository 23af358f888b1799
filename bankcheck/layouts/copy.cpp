// Which lanes a copy of a tile gives which elements.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/layouts/layouts.hpp"

namespace bankwise::layouts {
namespace {

constexpr unsigned matrix_side = 8, row_bytes = 16;  // of a matrix of ldmatrix and stmatrix
constexpr std::uint64_t max_threads = 1024;

[[noreturn]] void refuse(const Copy& copy, const std::string& why) {
  throw support::UsageError(fmt::format("--copy {}: {}", support::in_quotes(copy.text, 60), why));
}

/// The operation of "ldmatrix.x4.trans" or "load.16". `.trans` changes registers, and no address.
void read_operation(Copy& copy, std::string_view text, unsigned element) {
  if (text.ends_with(".trans")) text.remove_suffix(std::string_view(".trans").size());
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string_view kind = text.substr(0, dot);
  const auto operation = banks::operation_named(kind == "load" || kind == "store" ? kind : text);
  if (operation && banks::matrix_rows(*operation) > 0) {
    copy.operation = *operation;
    copy.width = row_bytes;
    copy.order = Copy::Order::matrices;
    return;
  }
  constexpr std::array widths{1U, 2U, 4U, 8U, 16U};
  copy.width = element;
  const bool is_plain = operation == banks::Operation::load || operation == banks::Operation::store;
  if (!is_plain || copy.text.find(".trans") != std::string::npos ||
      (dot < text.size() && (!support::parse_number(text.substr(dot + 1), copy.width) ||
                             std::ranges::find(widths, copy.width) == widths.end())))
    refuse(copy,
           "its operation is none of load, store, ldmatrix.x1, x2 and x4, and stmatrix.x1, x2 and x4; load.16 reads 16 "
           "bytes per lane, and ldmatrix may end in .trans");
  copy.operation = *operation;
}

/// The accesses of a copy in rows and columns, and how many elements lie from one row and one column to the next.
struct Grid {
  std::uint64_t rows, columns, row_step, column_step;

  /// The first element of an access.
  std::uint32_t element(std::uint64_t row, std::uint64_t column) const {
    return std::uint32_t(row * row_step + column * column_step);
  }
};

Grid grid_of(const Tile& tile, const Copy& copy, Direction direction) {
  const std::uint64_t elements = copy.width / tile.element;
  if (direction == Direction::along_row) return {tile.rows, tile.columns / elements, tile.columns, elements};
  return {tile.rows / elements, tile.columns, tile.columns * elements, 1};
}

/// Access after access, as many in each instruction as it has lanes.
std::vector<LaneElements> in_sequence(const Grid& grid, bool by_row, unsigned lanes) {
  std::vector<LaneElements> instructions;
  for (std::uint64_t slow = 0; slow < (by_row ? grid.rows : grid.columns); ++slow) {
    for (std::uint64_t fast = 0; fast < (by_row ? grid.columns : grid.rows); ++fast) {
      if (instructions.empty() || instructions.back().size() == lanes) instructions.emplace_back();
      instructions.back().push_back(by_row ? grid.element(slow, fast) : grid.element(fast, slow));
    }
  }
  return instructions;
}

/// Matrix after matrix, those below one another first; each lane gives a row of 16 bytes.
std::vector<LaneElements> of_matrices(const Grid& grid, const Copy& copy, Direction direction) {
  const bool along_row = direction == Direction::along_row;
  const std::uint64_t down = along_row ? grid.rows : grid.columns, across = along_row ? grid.columns : grid.rows;
  const std::uint64_t lanes = banks::matrix_rows(copy.operation);
  if (down % matrix_side != 0 || down * across % lanes != 0)
    refuse(copy, fmt::format("the tile has {} x {} rows of 16 bytes, which do not divide into {} of 8", down, across,
                             support::plural(lanes / matrix_side, "matrix", "matrices")));
  return in_sequence(grid, !along_row, unsigned(lanes));
}

struct Threads {
  std::uint64_t rows = 1, columns = 1, count = 0;
  std::vector<std::uint32_t> numbers;  // row by row
};

Threads threads_of(const Copy& copy) {
  Threads threads;
  try {
    const predict::CuteLayout layout(copy.threads);
    if (layout.size() > max_threads) refuse(copy, fmt::format("a block has at most {} threads", max_threads));
    threads.rows = layout.sizes().size() == 1 ? 1 : layout.sizes()[0];
    threads.columns = layout.size() / threads.rows;
    for (std::uint64_t row = 0; row < threads.rows; ++row) {
      for (std::uint64_t column = 0; column < threads.columns; ++column) {
        const std::uint64_t place = row + column * threads.rows, thread = layout({&place, 1});
        if (thread >= max_threads) refuse(copy, fmt::format("there is no thread {} in a block", thread));
        threads.numbers.push_back(std::uint32_t(thread));
        threads.count = std::max(threads.count, thread + 1);
      }
    }
  } catch (const predict::ExpressionError& error) {
    refuse(copy, error.what());
  }
  std::vector<std::uint32_t> sorted = threads.numbers;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) refuse(copy, fmt::format("thread {} has two places", *twice));
  return threads;
}

/// The layout of threads, repeated over the grid.
std::vector<LaneElements> by_threads(const Grid& grid, const Threads& threads, unsigned lanes) {
  std::vector<LaneElements> instructions;
  const std::size_t warps = (threads.count + lanes - 1) / lanes;
  for (std::uint64_t top = 0; top < grid.rows; top += threads.rows) {
    for (std::uint64_t left = 0; left < grid.columns; left += threads.columns) {
      std::vector<LaneElements> block(warps);
      for (std::uint64_t row = 0; row < std::min(threads.rows, grid.rows - top); ++row) {
        for (std::uint64_t column = 0; column < std::min(threads.columns, grid.columns - left); ++column) {
          const std::uint32_t thread = threads.numbers[row * threads.columns + column];
          LaneElements& warp = block[thread / lanes];
          warp.resize(std::max<std::size_t>(warp.size(), thread % lanes + 1), no_element);
          warp[thread % lanes] = grid.element(top + row, left + column);
        }
      }
      std::ranges::copy_if(block, std::back_inserter(instructions), [](auto& warp) { return !warp.empty(); });
    }
  }
  return instructions;
}

}  // namespace

Copy read_copy(const std::string& text, unsigned element) {
  Copy copy;
  copy.text = text;
  const std::size_t by = std::min(text.find(" by "), text.size());
  const std::string operation = text.substr(0, by);
  read_operation(copy, std::string_view(operation).substr(0, operation.find_last_not_of(' ') + 1), element);
  if (copy.width < element)
    refuse(copy, fmt::format("{} are less than an element, which has {}", support::plural(copy.width, "byte", "bytes"),
                             element));
  if (by == text.size()) return copy;
  if (copy.order == Copy::Order::matrices)
    refuse(copy, "ldmatrix and stmatrix say themselves which lane has which row");
  const std::string order = text.substr(by + std::string_view(" by ").size());
  if (order == "row" || order == "column") {
    copy.order = order == "row" ? Copy::Order::row : Copy::Order::column;
  } else {
    copy.order = Copy::Order::threads;
    copy.threads = order;
    (void)threads_of(copy);
  }
  return copy;
}

bool keeps_together(const Tile& tile, const std::vector<std::uint32_t>& offsets, unsigned width, Direction direction) {
  const std::uint64_t count = width / tile.element;
  const bool along_row = direction == Direction::along_row;
  if ((along_row ? tile.columns : tile.rows) % count != 0) return false;
  for (std::uint64_t row = 0; row < tile.rows; ++row) {
    for (std::uint64_t column = 0; column < tile.columns; ++column) {
      const std::uint64_t place = row * tile.columns + column, after = (along_row ? column : row) % count;
      const std::uint64_t first = place - after * (along_row ? 1 : tile.columns);
      if (offsets[place] != offsets[first] + after * tile.element || offsets[first] % width != 0) return false;
    }
  }
  return true;
}

Direction direction_of(const Tile& tile, const Copy& copy) {
  for (const Direction direction : {Direction::along_row, Direction::along_column}) {
    if (keeps_together(tile, tile.offsets, copy.width, direction)) return direction;
  }
  refuse(copy,
         fmt::format("an access needs {} of neighbours that lie together, aligned, everywhere in the tile; neither "
                     "the rows nor the columns of this layout have them",
                     support::plural(copy.width, "byte", "bytes")));
}

std::vector<LaneElements> instructions_of(const Tile& tile, const Copy& copy, unsigned lanes) {
  const Direction direction = direction_of(tile, copy);
  const Grid grid = grid_of(tile, copy, direction);
  switch (copy.order) {
    case Copy::Order::row: return in_sequence(grid, true, lanes);
    case Copy::Order::column: return in_sequence(grid, false, lanes);
    case Copy::Order::threads: return by_threads(grid, threads_of(copy), lanes);
    case Copy::Order::matrices: return of_matrices(grid, copy, direction);
  }
  return {};
}

}  // namespace bankwise::layouts
