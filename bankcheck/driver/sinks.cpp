#include "bankcheck/driver/sinks.hpp"

#include <fmt/format.h>

#include <bankwise/support/table.hpp>
#include <bankwise/support/text.hpp>
#include "bankcheck/predict/predict.hpp"

namespace bankwise::driver {
namespace {

/// The text for the terminal.
std::string write_text(const SinkInput& input) {
  const RunReport& report = input.report;
  if (report.failed && report.kernels.empty()) return "";
  std::string text;
  if (input.fits_only) {
    for (const std::string& sentence : report.incomplete) text += fmt::format("incomplete: {}\n", sentence);
  } else {
    text = to_text(report, support::terminal_columns());
  }
  for (std::size_t k = 0; k < input.fits.size(); ++k) {
    text += fit_text(report.kernels[k], input.fits[k], support::terminal_columns(), !input.fits_only);
  }
  text = support::visible(text);
  return support::terminal_has_colour() ? predict::coloured(text) : text;
}

std::string write_json(const SinkInput& input) { return to_json(input.report, input.fits); }

std::string write_html(const SinkInput& input) {
  constexpr unsigned fit_columns = 150;  // wide enough for the pictures of a fit
  const auto& kernels = input.report.kernels;
  HtmlExtras extras{{}, {}, input.only, input.exceeded(kernels)};
  for (const KernelReport& kernel : kernels) {
    extras.sources.push_back(source_excerpts(kernel, input.trace, input.finder));
  }
  for (std::size_t k = 0; k < input.fits.size(); ++k) {
    extras.fits.push_back(fit_text(kernels[k], input.fits[k], fit_columns, true));
  }
  return to_html(input.report, extras);
}

constexpr report::Sink<SinkInput> table[]{
    {nullptr, nullptr, write_text},
    {"--json", "Write all numbers to this file; - writes them to stdout and prints nothing else", write_json},
    {"--sarif", "Write the lines with conflicts to this file, as SARIF 2.1.0 for code review", write_sarif,
     remark_on_sarif},
    {"--html", "Write the report to this file as a page for a browser, with the source and pictures of the banks",
     write_html},
};

}  // namespace

std::span<const report::Sink<SinkInput>> sinks() { return table; }

}  // namespace bankwise::driver
