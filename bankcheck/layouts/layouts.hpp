// The command `bankcheck layout`: what it costs to read and write a tile of shared memory whose layout is given as
// text, which swizzle or pad is the best, and how few passes any layout can have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include "bankcheck/fit/change.hpp"
#include "bankcheck/layouts/tile.hpp"
#include "bankcheck/predict/predict.hpp"

namespace bankwise::layouts {

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
  std::string order;                  ///< the bits of row and column, lowest first: "c0 c1 r0"
  std::string why;                    ///< a sentence without a dot: the shape is no power of two
};
Certificate certificate(const banks::Architecture& architecture, const Tile& tile, const std::vector<Copy>& copies);

/// The byte offset of each element in the layout of the certificate's matrix.
std::vector<std::uint32_t> elements_of(const Certificate& certificate, const Tile& tile,
                                       const std::vector<Copy>& copies);

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
