// SPDX-License-Identifier: MIT
//
// Runs the line programs of a cubin: what line_table.hpp looks lines up in.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>
#include "bankcheck/cuda/cubin/byte_reader.hpp"

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

// What stands before a line program: its version, the meaning of its opcodes, its files.

struct LineHeader {
  unsigned version = 0;
  bool is_64_bit = false;                // whether offsets in DWARF sections have 8 bytes
  unsigned unit = 1;                     // bytes that addresses advance by
  int line_base = 0;                     // special opcodes: the least that lines advance by
  unsigned line_range = 1;               // and how many such steps there are
  unsigned first_special = 1;            // opcode
  std::vector<unsigned> operand_counts;  // standard opcodes, from opcode 1
  std::vector<LineTable::File> files;
  unsigned first_file = 1;  // the number of files[0]
};

/// What the names of files may be stored in.
struct NameSections {
  std::string_view strings;       // .debug_str
  std::string_view line_strings;  // .debug_line_str
};

/// `unit` is at the start of a unit, less its length; afterwards it is at the first opcode. Throws std::runtime_error
/// with one sentence.
LineHeader read_line_header(ByteReader& unit, bool is_64_bit, const NameSections& names);

}  // namespace bankwise::cuda
