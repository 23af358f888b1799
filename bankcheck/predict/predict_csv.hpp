// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include <bankwise/banks/architecture.hpp>

namespace bankwise::predict {

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

}  // namespace bankwise::predict
