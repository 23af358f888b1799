// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include <bankwise/banks/architecture.hpp>

namespace bankwise {

/// A row that cannot be read, or that has no cost.
struct BadRow {
  std::uint64_t line;  ///< counted from 1, the header
  std::string sentence;
};

enum class Format { csv, json };

/// Reads accesses, one a line, and writes the cost of each as soon as it is read; memory does not grow with the input.
///
/// Input: a header with the columns id, op, width, mask (hexadecimal), a0 ... a31 or a0 ... a63 (byte offsets, decimal or
/// 0x...), in any order; other columns are ignored, blank lines too, and what inactive lanes have. Output, in the same
/// order: id, passes, ideal, conflicts, and passes_max, conflicts_max where the hardware may choose (compute capability
/// 1.x). At the first bad row it stops; the rows before it are written. The caller looks at the state of `out`.
std::optional<BadRow> predict_csv(const banks::Architecture& architecture, std::istream& in, std::ostream& out,
                                  Format format);

}  // namespace bankwise
