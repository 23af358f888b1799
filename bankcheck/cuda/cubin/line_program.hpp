// SPDX-License-Identifier: MIT
//
// Runs the line programs of a cubin: what line_table.hpp looks lines up in.
#pragma once

#include <vector>

#include "bankcheck/cuda/cubin/line_table.hpp"

namespace bankwise::cuda {

struct LineRows {
  std::vector<LineTable::File> files;
  std::vector<LineTable::Row> rows;
  std::vector<LineTable::Sequence> sequences;
};

/// Throws std::runtime_error with one sentence if a program is cut short, or of another version. A cubin without lines
/// has no rows.
LineRows run_line_programs(const Elf& elf);

}  // namespace bankwise::cuda
