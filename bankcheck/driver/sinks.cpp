#include "bankcheck/driver/sinks.hpp"

namespace bankwise::driver {
namespace {

std::string write_text(const SinkInput& input) {
  const bool has_nothing = input.report.failed && input.report.kernels.empty();
  return has_nothing ? "" : to_text(input.report, input.text, input.fits);
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
