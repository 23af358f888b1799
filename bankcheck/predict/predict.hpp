#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/banks/cost.hpp>

namespace CLI {
class App;
}

namespace bankwise::predict {

/// An access that is given as an index formula, and its cost.
struct Prediction {
  const banks::Architecture* architecture = nullptr;
  std::string index;
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;      ///< bytes per lane
  std::uint64_t mask = 0;  ///< active lanes
  std::vector<std::uint32_t> addresses;
  banks::Cost cost;

  banks::Access access() const { return {operation, width, mask, addresses}; }
};

/// The cost of one access in which each lane of `mask` accesses the element `index`, an IndexExpression in elements of
/// `width` bytes. Errors: UsageError for an invalid expression, for an address past 4 GiB, and for an operation, a
/// width or a lane that the architecture lacks.
Prediction predict_index(const banks::Architecture& architecture, banks::Operation operation, unsigned width,
                         std::uint64_t mask, const std::string& index);

/// Error: UsageError for an access that the architecture lacks.
banks::Cost cost_or_refuse(const banks::Architecture& architecture, const banks::Access& access);

/// The report for a terminal: numbers, lane groups, the picture of the banks.
std::string text_of(const Prediction& prediction, unsigned columns);
std::string json_of(const Prediction& prediction);
std::string svg_of(const Prediction& prediction);

/// A row that is malformed, or that has no known cost.
struct BadRow {
  std::uint64_t line;  ///< the header is line 1
  std::string sentence;
};

enum class CostFormat { csv, json };

/// Reads accesses, one per line, and writes the cost of each immediately: memory use does not grow with the input.
///
/// Input: a header with the columns id, op, width, mask (hexadecimal), a0 ... a31 or a0 ... a63 (byte offsets, decimal
/// or 0x...), in any order. Copies (cp.async) also need the columns s0 ... s31: byte addresses in global memory, modulo
/// any multiple of 128. Other columns, blank lines, and the addresses of inactive lanes are ignored. Output, in the
/// order of the input: id, passes, ideal, conflicts, and passes_max, conflicts_max where the hardware may choose
/// (compute capability 1.x). Stops at the first bad row, after writing the rows before it. The caller checks the state
/// of `out`.
std::optional<BadRow> predict_csv(const banks::Architecture& architecture, std::istream& in, std::ostream& out,
                                  CostFormat format);

struct PredictOptions {
  const CLI::App* command = nullptr;  ///< knows which options were given
  std::string architecture = "sm_90", accesses, index, operation = "load", mask, svg;
  unsigned width = 0, lanes = 0;  // 0: the default
  bool json = false;
};

struct ArchsOptions {
  bool json = false;
};

/// A table of the architectures with their aliases and GPUs, followed by the bank rules of each architecture: per
/// operation, which lanes are served together in which banks, with evidence and source.
std::string architectures_text();
std::string architectures_json();

/// `bankcheck archs` prints it. Returns exit_ok.
void declare_archs(CLI::App& command, ArchsOptions& options);
int archs(ArchsOptions& options);

/// The options of `bankcheck predict`.
void declare_predict(CLI::App& command, PredictOptions& options);

/// Runs it. Returns exit_ok. Errors: UsageError; std::runtime_error for an output that cannot be written.
int predict(PredictOptions& options);

}  // namespace bankwise::predict
