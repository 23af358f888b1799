// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/cubin/line_table.hpp"

#include <algorithm>
#include <numeric>

#include "bankcheck/cuda/cubin/byte_reader.hpp"
#include "bankcheck/cuda/cubin/line_program.hpp"

namespace bankwise::cuda {

namespace {

constexpr unsigned max_inlined_calls = 200;  // around each other; a chain that is longer is cut

}  // namespace

LineTable::LineTable(const Elf& elf) {
  if (const Section* names = section_named(elf, ".debug_str")) names_ = names->bytes;
  LineRows line_rows = run_line_programs(elf);
  files_ = std::move(line_rows.files);
  rows_ = std::move(line_rows.rows);
  sequences_ = std::move(line_rows.sequences);
  by_address_.resize(rows_.size());
  std::iota(by_address_.begin(), by_address_.end(), std::size_t{0});
  for (const Sequence& sequence : sequences_) {
    std::stable_sort(by_address_.begin() + std::ptrdiff_t(sequence.first),
                     by_address_.begin() + std::ptrdiff_t(sequence.end),
                     [&](auto a, auto b) { return rows_[a].address < rows_[b].address; });
  }
}

// The last of several rows with one address counts: the others describe no instruction.
std::optional<std::size_t> LineTable::row_at(const Sequence& sequence, std::uint64_t offset) const {
  if (offset >= sequence.end_address) return {};
  const auto first = by_address_.begin() + std::ptrdiff_t(sequence.first);
  const auto next = std::upper_bound(first, by_address_.begin() + std::ptrdiff_t(sequence.end), offset,
                                     [&](auto address, auto row) { return address < rows_[row].address; });
  if (next == first) return {};
  return *(next - 1);
}

std::vector<SourceLine> LineTable::lines(std::uint32_t section, std::uint64_t offset) const {
  std::vector<SourceLine> lines;
  for (const Sequence& sequence : sequences_) {
    if (sequence.section != section) continue;
    auto row = row_at(sequence, offset);
    if (!row) continue;
    while (row && lines.size() < max_inlined_calls) {
      const Row& here = rows_[*row];
      const File file = here.file < files_.size() ? files_[here.file] : File{};
      const bool is_inlined = here.caller != 0;
      lines.push_back(
          {file.directory, file.name, here.line, is_inlined ? string_at(names_, here.function, max_symbol_bytes) : ""});
      // A caller is a row that came before, so the chain has an end.
      const bool is_earlier = is_inlined && here.caller <= *row - sequence.first;
      row = is_earlier ? std::optional(std::size_t(sequence.first + here.caller - 1)) : std::nullopt;
    }
    break;
  }
  return lines;
}

}  // namespace bankwise::cuda
