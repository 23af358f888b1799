// SPDX-License-Identifier: MIT
#include "bankcheck/driver/sinks.hpp"

#include <fmt/format.h>

namespace bankwise::driver {
namespace {

std::string write_json(const SinkInput& input) { return to_json(input.report, input.fits); }

std::string write_sarif(const SinkInput& input) {
  std::set<std::string> exceeded;
  for (const KernelReport& kernel : input.report.kernels) {
    if (!input.exceeded({kernel}).empty()) exceeded.insert(kernel.name);
  }
  return to_sarif(input.report.kernels, exceeded, input.fits);
}

std::string remark_on_sarif(const SinkInput& input) {
  const auto lines = lines_without_file(input.report.kernels);
  if (lines == 0) return "";
  return fmt::format(
      "--sarif omits {} line{} with conflicts or diagnoses that {} in no file below {}, or in several; see --sources",
      lines, lines == 1 ? "" : "s", lines == 1 ? "is" : "are", input.sources);
}

std::string write_html(const SinkInput& input) {
  constexpr unsigned fit_columns = 150;  // wide enough for the pictures of a fit
  const auto& kernels = input.report.kernels;
  HtmlExtras extras{{}, {}, input.only, input.exceeded(kernels)};
  for (const KernelReport& kernel : kernels) {
    extras.sources.push_back(source_excerpts(kernel, input.trace, input.finder));
  }
  for (std::size_t k = 0; k < input.fits.size(); ++k) {
    extras.fits.push_back(fit_text(kernels[k], input.fits[k], fit_columns, false));
  }
  return to_html(input.report, extras);
}

constexpr Sink table[]{
    {"--json", "Write all numbers to this file; - writes them to stdout and prints nothing else", write_json},
    {"--sarif", "Write the lines with conflicts to this file, as SARIF 2.1.0 for code review", write_sarif,
     remark_on_sarif},
    {"--html", "Write the report to this file as a page for a browser, with the source and pictures of the banks",
     write_html},
};

}  // namespace

std::span<const Sink> sinks() { return table; }

}  // namespace bankwise::driver
