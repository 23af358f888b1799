#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/trace/report.hpp>

namespace bankwise::report {

/// A kernel's report as text, for tests of kernels: one line per source line, and the totals.
std::string to_text(const trace::Report& report);

/// A line of a report as a table shows it.
struct ShownLine {
  std::string where, source;
  std::size_t at = std::string::npos;  ///< where in `source` the access is, if that is known
};

/// The lines of a report with most conflicts first, then by passes: their indices.
std::vector<std::size_t> by_cost(const trace::Report& report);

/// The part of a source line that makes the access: "bs[tx][i]"; "" if it cannot be told.
std::string_view access_in(const ShownLine& shown, const trace::LineReport& line);

struct TableOptions {
  std::size_t columns = 120;       ///< of the terminal
  bool total = true;               ///< whether the last row is the sum
  bool at_least = false;           ///< the numbers are lower bounds
  bool everything = false;         ///< all lines, not the first 20; those of global memory without extra sectors, too
  std::vector<std::string> times;  ///< the most of the kernel's time that each line can take; empty: not known
};

/// The lines of a report in the order of by_cost(), one of `shown` for each. If the terminal is too narrow, it shows
/// less of the source and then fewer columns.
std::string line_table(const trace::Report& report, const std::vector<ShownLine>& shown, const TableOptions& options);

/// "wgmma, TMA load": the engines of a kernel, or those of them that take passes.
std::string engines_text(const trace::Report& report, bool with_passes = false);

/// What the engines of a kernel did, one row for each of `engine_lines`, the one that moves most first.
std::string engine_table(const trace::Report& report, const std::vector<ShownLine>& shown, const TableOptions& options);

/// The lines of a memory with most extra sectors first, then by sectors: their indices.
std::vector<std::size_t> by_extra_sectors(const std::vector<trace::GlobalLineReport>& lines);

/// What the typical access of a line looks like: "lanes 4,096 bytes apart (a column)"; "" if that is not known.
std::string looks_like(const trace::Report& report, const trace::GlobalLineReport& line);

/// The lines of a report in a memory, in the order of by_extra_sectors(). Those without extra sectors are one row.
std::string global_table(const trace::Report& report, trace::SectorMemory memory, const std::vector<ShownLine>& shown,
                         const TableOptions& options);

}  // namespace bankwise::report
