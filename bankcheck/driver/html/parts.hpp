// Internal to bankcheck/driver/html: the parts of the page. Each function appends to `html`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/banks/cost.hpp>
#include <bankwise/support/numbers.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/driver/sinks.hpp"

namespace bankwise::driver::html {

using support::grouped;
using support::plural;
using support::xml_text;

/// A kernel on the page.
struct KernelPart {
  const RunReport& run;
  const KernelReport& kernel;
  const Terms& terms;
  std::size_t number;                        ///< the kernel's in the run; part of the ids of its elements
  bool at_least;                             ///< it may have done more, so its numbers are lower bounds
  std::span<const SourceExcerpt> sources{};  ///< empty without
  const KernelFitReport* fit = nullptr;      ///< null without --fit

  const std::vector<trace::Report>& reports() const { return kernel.reports; }
  /// The rows of the first report, which the other architectures have, too.
  const std::vector<trace::LineReport>& lines() const { return kernel.reports.front().lines; }
  bool has_conflicts() const;
};

/// Limits of a page that browsers can open: beyond so many bytes it has no pictures and no kernels, and a kernel has no
/// more lines than these.
inline constexpr std::size_t max_page = std::size_t{8} << 20, max_lines = 1000;

/// The cells of architectures that show the same, one text for each row.
using Columns = Alike<std::vector<std::string>>;

template <class CellOf>
std::vector<Columns> folded_columns(std::size_t architectures, std::size_t rows, CellOf cell_of) {
  return alike(architectures, [&](std::size_t a) {
    std::vector<std::string> cells;
    for (std::size_t row = 0; row < rows; ++row) cells.push_back(cell_of(a, row));
    return cells;
  });
}

/// "sm_90, sm_80"; with their GPUs, "sm_90 (Hopper: H100, H200), ...".
std::string names_of(const std::vector<trace::Report>& reports, const std::vector<std::size_t>& architectures,
                     bool with_gpus = false);

/// "≥524,288 passes where 65,536 would do"; "4,096 passes, no conflict".
std::string passes_sentence(const banks::Tally& costs, bool at_least);

/// The number of passes of a line's worst access over its ideal: "8-way conflict"; "conflicts" if that is not known.
std::string conflict_name(const banks::Architecture& architecture, const trace::LineReport& line, bool at_least);

/// Indices of the lines that are shown, those that cost most first: by conflicts on the first architecture, then on the
/// next, then by passes.
std::vector<std::size_t> shown_lines(const KernelPart& part);

/// The id of the row of a line, an index into part.lines().
std::string id_of(const KernelPart& part, std::size_t line);

/// A class for the share of a number in a whole: "h0" for none to "h5" for at least half.
std::string_view heat(std::uint64_t number, std::uint64_t whole);

/// A cell with a number, and "≥" in front of a lower bound.
void append_number(std::string& html, const std::string& number, bool at_least, std::string_view heat_class = "");
/// Passes, and with `conflicts` the ideal and the conflicts.
void append_tally(std::string& html, const banks::Tally& costs, bool at_least, bool conflicts,
                  std::string_view heat_class = "");
/// A percentage with a bar.
void append_share(std::string& html, const std::string& percent);

/// A table with two rows of heads: the architectures, and the `heads` that each of them has.
void begin_numbers(std::string& html, std::string_view label, const std::vector<trace::Report>& reports,
                   const std::vector<Columns>& columns, std::string_view first_heads, std::size_t first_count,
                   const std::vector<std::string_view>& heads, std::string_view last_head);

/// A table that scrolls on its own where it is too wide.
void begin_table(std::string& html, std::string_view label, std::string_view css_class);
/// The rest of a row: the numbers of the architectures, and the source of a line, with what is `wanted` in it.
void end_row(std::string& html, const std::vector<Columns>& columns, std::size_t row, std::string_view source,
             std::string_view wanted = "");
/// The end of a table; below it, how many of its rows it lacks.
void end_table(std::string& html, std::size_t rows, std::size_t max_rows, std::string_view name);
void append_rest(std::string& html, std::size_t rows, std::size_t max_rows, std::string_view name);
/// The name of a kernel, as a link to its section.
std::string kernel_link(const KernelPart& part);
/// The source of a line that the answer names.
void append_answer_source(std::string& html, const KernelPart& part, const trace::Site& site);

/// What is wrong, then what was not watched, or that nothing is missing.
void append_status(std::string& html, const RunReport& report, const HtmlExtras& extras,
                   const std::vector<KernelPart>& parts);

/// A sentence for each kernel with conflicts, and its fix.
void append_answer(std::string& html, const std::vector<KernelPart>& parts);

/// A table of the kernels, one row each.
void append_summary(std::string& html, const std::vector<KernelPart>& parts);

/// The layouts that remove the conflicts, as code.
void append_fit(std::string& html, const KernelPart& part);

/// A table of all accesses, those with the most conflicts first.
void append_accesses(std::string& html, const KernelPart& part);
/// A table of what wgmma, bulk copies and TMA did.
void append_engines(std::string& html, const KernelPart& part);

/// The source with the conflicts of each line, and below each line its accesses.
void append_source(std::string& html, const KernelPart& part);

// Global memory: a sentence for a kernel with extra sectors, a table of its lines, and what is below a line of the
// source. The shared memory of other blocks has the table alone.
void append_global_answer(std::string& html, const KernelPart& part);
void append_global(std::string& html, const KernelPart& part);
void append_remote(std::string& html, const KernelPart& part);
void append_global_access(std::string& html, const KernelPart& part, std::size_t number, bool open);
/// Indices of the lines that are shown, those with the most extra sectors first.
std::vector<std::size_t> shown_global_lines(const KernelPart& part);
/// A cell with the extra sectors of some lines.
std::string extra_cell(const KernelPart& part, const trace::Report& report, const std::vector<std::size_t>& lines);

/// What the memories of the GPU are busy with.
void append_time(std::string& html, const KernelPart& part);

/// What a block does between two barriers, and with which lanes.
void append_levels(std::string& html, const KernelPart& part);

}  // namespace bankwise::driver::html
