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

/// A table of the kernels, one row each.
void append_summary(std::string& html, const std::vector<KernelPart>& parts);

/// A table of all accesses, those with the most conflicts first.
void append_accesses(std::string& html, const KernelPart& part);

/// The source with the conflicts of each line, and below each line its accesses.
void append_source(std::string& html, const KernelPart& part, const std::vector<SourceExcerpt>& excerpts);

/// What a block does between two barriers, and with which lanes.
void append_levels(std::string& html, const KernelPart& part);

}  // namespace bankwise::driver::html
