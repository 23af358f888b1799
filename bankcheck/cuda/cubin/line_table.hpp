// SPDX-License-Identifier: MIT
//
// Which source line an instruction is from: the line programs of .debug_line, DWARF 2 to 5, with NVIDIA's extension for
// calls that were inlined.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "bankcheck/cuda/cubin/elf.hpp"

namespace bankwise::cuda {

/// A line that an instruction is from, or a line with a call that was inlined around it.
struct SourceLine {
  std::string_view directory, file;  // as the compiler was given them; without a directory if it is unknown
  unsigned line = 0;                 // from 1; 0 for code that is from no line
  std::string_view function;         // mangled, of the inlined function with the line; empty for the outermost line
};

/// All views are into the cubin's bytes.
class LineTable {
 public:
  LineTable() = default;  // knows no lines

  /// Reads all line programs of the cubin, in time and memory proportional to the bytes of .debug_line. Throws
  /// std::runtime_error with one sentence if a program is cut short, or of another version.
  explicit LineTable(const Elf& elf);

  /// The lines of the instruction at `offset` bytes of a section, innermost first; empty if unknown.
  std::vector<SourceLine> lines(std::uint32_t section, std::uint64_t offset) const;

  struct File {
    std::string_view directory, name;
  };
  struct Row {
    std::uint64_t address = 0;  // in the section
    std::uint32_t file = 0;     // in the files; past their end if unknown
    std::uint32_t line = 0;
    std::uint64_t caller = 0;    // the row of this sequence, from 1, that this one is inlined into; 0: none
    std::uint64_t function = 0;  // offset in .debug_str
  };
  /// Rows that follow each other in one section.
  struct Sequence {
    std::uint32_t section = 0;
    std::size_t first = 0, end = 0;  // in the rows
    std::uint64_t end_address = 0;
  };

  struct Content {
    std::vector<File> files;
    std::vector<Row> rows;
    std::vector<Sequence> sequences;
  };

 private:
  std::optional<std::size_t> row_at(const Sequence& sequence, std::uint64_t offset) const;

  Content content_;
  std::vector<std::size_t> by_address_;  // the rows, those of each sequence in the order of their addresses
  std::string_view names_;               // .debug_str
};

}  // namespace bankwise::cuda
