// The command `bankcheck layout`: what it costs to read and write a tile of shared memory whose layout is given as
// text, which swizzle or pad is the best, and how few passes any layout can have.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/banks/operation.hpp>
#include "bankcheck/fit/change.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::layouts {

// --- Where each element of a tile lies, and which lanes a copy of it gives which elements ---

/// The most bytes, and the most elements, of a tile: more than the shared memory of any GPU.
inline constexpr std::uint64_t max_tile = std::uint64_t{1} << 20;

/// Rows and columns, and the byte offset of each element, row by row.
struct Tile {
  std::string text;  ///< the layout as the user wrote it, or shape and strides
  std::uint64_t rows = 1, columns = 1;
  unsigned element = 0;                ///< bytes
  std::vector<std::uint32_t> offsets;  ///< distinct, unless `repeats`
  std::vector<std::uint32_t> plain;    ///< the same without the layout's swizzle or pads
  bool repeats = false;                ///< some elements share bytes, as those of a mode with stride 0
  bool swizzles_bytes = false;         ///< the layout's swizzle counts bytes, not elements

  std::uint64_t bytes() const;  ///< one more than the last byte
};

/// A layout as texts: either one of CuTe or Triton, with a shape if it has none, or a shape and strides of NumPy.
struct TileText {
  std::string layout;   ///< "Swizzle<3,3,3> o (8,64):(64,1)", "#ttg.swizzled_shared<{...}>"
  std::string shape;    ///< "64,64", "(64, 64)", "64x64"
  std::string strides;  ///< in bytes, as NumPy has them; by default those of rows without a pad
  std::string type;     ///< "half", "f16", "float16"; "" if the layout has the bits of an element
};

/// Of a layout with more than two modes, the first is the row and the others together are the column. Errors:
/// UsageError for a malformed text, an unknown type, and a tile of more than `max_tile` bytes or elements.
Tile read_tile(const TileText& text);

/// A layout of rows and columns, in elements, and the same without its swizzle.
struct ElementOffsets {
  std::uint64_t rows = 1, columns = 1;
  std::function<std::uint64_t(std::uint64_t row, std::uint64_t column)> offset, plain;
  unsigned element_bytes = 0;  ///< if the text says them
};

/// Whether a text is meant as one of Triton's shared encodings.
bool looks_like_triton(std::string_view text);
/// Reads #ttg.swizzled_shared, #ttg.padded_shared and #ttg.nvmma_shared, also by their older names. `shape`: of the
/// tensor in one block; padded encodings may have it themselves. Error: predict::ExpressionError.
ElementOffsets triton_offsets(std::string_view text, const std::vector<std::uint64_t>& shape);

/// "64,64", "(64, 64)" or "64x64". Error: predict::ExpressionError.
std::vector<std::uint64_t> numbers_in(std::string_view text);

/// How a warp reads or writes a tile: an operation, and which thread has which elements.
struct Copy {
  std::string text;  ///< as the user wrote it: "ldmatrix.x4", "store.16 by column"
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;  ///< bytes per lane
  enum class Order { row, column, threads, matrices } order = Order::row;
  std::string threads;  ///< a CuTe layout of the numbers of threads, for Order::threads
};

/// OP[.BYTES] [by row|column|LAYOUT]; by default the bytes of an element, by row. Error: UsageError.
Copy read_copy(const std::string& text, unsigned element);

/// For each instruction of a warp, the element with which the access of each lane begins: its place in Tile::offsets,
/// or `no_element` for an inactive lane.
using LaneElements = std::vector<std::uint32_t>;
inline constexpr std::uint32_t no_element = ~std::uint32_t{0};

/// Which neighbours an access of several elements keeps together.
enum class Direction { along_row, along_column };

/// Whether all accesses of `width` bytes in this direction are contiguous and aligned, if the elements have these
/// offsets.
bool keeps_together(const Tile& tile, const std::vector<std::uint32_t>& offsets, unsigned width, Direction direction);

/// The direction in which all accesses of a copy are contiguous and aligned in this layout; along rows if an access has
/// one element. Error: UsageError if there is none, or if the tile does not divide into such accesses.
Direction direction_of(const Tile& tile, const Copy& copy);

/// The instructions of warps of `lanes` lanes that together copy the tile once. Error: UsageError.
std::vector<LaneElements> instructions_of(const Tile& tile, const Copy& copy, unsigned lanes);

// --- What that costs, and how few passes other layouts have ---

/// What a copy of the whole tile costs on one architecture. Unit: passes, as in banks::Cost.
struct CopyCost {
  std::uint64_t instructions = 0;  ///< of warps
  std::uint64_t passes = 0, ideal = 0, conflicts = 0;
  std::uint64_t passes_max = 0, conflicts_max = 0;  ///< as in banks::Cost
  std::uint64_t number = 0;                         ///< of the instruction with most conflicts, from 0: the worst
  predict::Prediction worst;                        ///< its access

  void add(const predict::Prediction& access);
};

/// The access of an instruction, without a cost. `elements`: the byte offset of each element, as in Tile.
predict::Prediction access_of(const banks::Architecture& architecture, const Copy& copy,
                              const LaneElements& instruction, const std::vector<std::uint32_t>& elements);

/// `elements`: as above. Error: UsageError for an access that the architecture lacks.
CopyCost cost_of(const banks::Architecture& architecture, const Tile& tile, const Copy& copy,
                 const std::vector<std::uint32_t>& elements);

/// A layout made of the plain one, with its passes over all copies.
struct Candidate {
  std::string name;    ///< "Swizzle<3, 3, 3>", "16 bytes after every 128"
  std::string index;   ///< the index in C, if the plain layout is an array of rows
  fit::Change change;  ///< of byte offsets
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> passes;  ///< by architecture
};

/// The plain layout first, then its best swizzle and its best pad, by passes over all architectures and then by bytes,
/// if they have fewer passes. `tried`: how many changes the search compared.
struct BestLayouts {
  std::vector<Candidate> candidates;
  std::size_t tried = 0;
};
BestLayouts best_layouts(const std::vector<const banks::Architecture*>& architectures, const Tile& tile,
                         const std::vector<Copy>& copies);

/// The fewest passes of any layout, over all copies of the tile on one architecture.
struct Certificate {
  unsigned together = 0;  ///< bytes that the layouts keep together and aligned: of the widest access, >= 4
  Direction direction = Direction::along_row;  ///< in which they lie
  std::uint64_t any_layout = 0;  ///< no layout that keeps them together has fewer passes, whatever its formula or pads;
                                 ///< 0: not known
  /// The fewest passes of all linear layouts: those whose byte address is an invertible function of the bits of row and
  /// column that uses only XOR. Empty if it is not known: `why`.
  std::optional<std::uint64_t> linear;
  std::vector<std::uint64_t> matrix;  ///< of such a layout, by bit of the address: the bits of `order` that it XORs
  std::vector<std::string> order;     ///< the bits of row and column, lowest first: "c0", "c1", "r0"
  std::string why;                    ///< a sentence without a dot: the shape is no power of two
};
Certificate certificate(const banks::Architecture& architecture, const Tile& tile, const std::vector<Copy>& copies);

struct LayoutOptions {
  TileText tile;
  std::vector<std::string> copies{"load"}, architectures{"sm_90"};
  bool json = false;
};

/// The answers for one tile.
struct LayoutReport {
  Tile tile;
  std::vector<Copy> copies;
  std::vector<const banks::Architecture*> architectures;
  std::vector<std::vector<CopyCost>> costs;  ///< by copy, then by architecture
  BestLayouts best;
  std::vector<Certificate> certificates;  ///< by architecture
};

/// Error: UsageError.
LayoutReport layout_report(const LayoutOptions& options);
std::string text_of(const LayoutReport& report, unsigned columns);
std::string json_of(const LayoutReport& report);

/// The options of `bankcheck layout`.
void declare_layout(CLI::App& command, LayoutOptions& options);

/// Runs it. Returns exit_ok. Errors: UsageError; std::runtime_error for an output that cannot be written.
int layout(LayoutOptions& options);

}  // namespace bankwise::layouts
