// Internal to bankcheck/driver/html: the parts of the page. Each function appends to `html`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/banks/cost.hpp>
#include "bankcheck/driver/kernel_report.hpp"

namespace bankwise::driver::html {

/// A kernel on the page.
struct KernelPart {
  const RunReport& run;
  const KernelReport& kernel;
  const Terms& terms;
  std::size_t number;  ///< the kernel's in the run; part of the ids of its elements
  bool at_least;       ///< the trace is incomplete, so the numbers are lower bounds

  const std::vector<trace::Report>& reports() const { return kernel.reports; }
};

/// Limits of a page that browsers can open: beyond so many bytes it has no pictures and no kernels, and a kernel has no
/// more lines than these.
inline constexpr std::size_t max_page = std::size_t{8} << 20, max_lines = 1000;

/// The content of the page's style element.
std::string_view style();

/// The id of the row of a line, an index into the first report's lines.
std::string id_of(const KernelPart& part, std::size_t line);

/// A class for the share of a number in a whole: "h0" for none to "h5" for at least half.
std::string_view heat(std::uint64_t number, std::uint64_t whole);

/// A cell with a number, and "≥" in front of a lower bound.
void append_number(std::string& html, const std::string& number, bool at_least, std::string_view heat_class = "");

/// Indices below `count`, those with the largest numbers first: by the first number of each, then by the next.
template <class NumbersOf>
std::vector<std::size_t> by_numbers(std::size_t count, NumbersOf numbers_of) {
  std::vector<std::vector<std::uint64_t>> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(numbers_of(i));
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return numbers[a] > numbers[b]; });
  return order;
}

/// The head cells of columns that each architecture has; `columns` per architecture.
void append_architecture_heads(std::string& html, const KernelPart& part, std::size_t columns);

/// A table of all accesses, those with the most conflicts first.
void append_accesses(std::string& html, const KernelPart& part);

/// The source with the conflicts of each line, and below each line its accesses.
void append_source(std::string& html, const KernelPart& part, const std::vector<SourceExcerpt>& excerpts);

/// The worst access of a line on each architecture: which bank serves which lane in which pass.
void append_pictures(std::string& html, const KernelPart& part, const trace::LineReport& line);

/// What a block does between two barriers, and with which lanes.
void append_levels(std::string& html, const KernelPart& part);

}  // namespace bankwise::driver::html
