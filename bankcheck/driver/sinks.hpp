// The formats of a report. A new one is a file with its writer, and a row of the table in sinks.cpp.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <bankwise/report/sink.hpp>
#include <bankwise/trace/trace.hpp>
#include "bankcheck/driver/fit_report.hpp"
#include "bankcheck/driver/kernel_report.hpp"

namespace bankwise::driver {

/// What a sink may write of a run.
struct SinkInput {
  const RunReport& report;
  const std::vector<KernelFitReport>& fits;  ///< one for each kernel, or none
  const trace::Trace& trace;
  const SourceFinder& finder;
  const std::string& sources;            ///< the directory of --sources
  const std::vector<std::string>& only;  ///< names and globs, if not all kernels were asked for
  const TextOptions& text;
  /// The limits that some of the kernels exceed.
  std::function<std::vector<std::string>(const std::vector<KernelReport>&)> exceeded;
};

/// In the order of the options; the first is the text, the last the patch.
std::span<const report::Sink<SinkInput>> sinks();

/// The lines with conflicts, those with many extra sectors and the diagnoses as SARIF 2.1.0, for code review tools.
/// Lines of kernels in `exceeded` and diagnoses are errors, other lines with conflicts are warnings, those with extra
/// sectors and remarks are notes. Lines without a known file are omitted, because
/// those tools reject results without a location. A line whose array a fit changes in one file has a fix. `fits` has
/// one element for each kernel, or none. What was not watched is a notification.
std::string to_sarif(const RunReport& report, const std::set<std::string>& exceeded,
                     const std::vector<KernelFitReport>& fits = {});

/// The number of lines with conflicts and of diagnoses that to_sarif() omits.
std::size_t lines_without_file(const std::vector<KernelReport>& kernels);

std::string write_sarif(const SinkInput& input);
std::string remark_on_sarif(const SinkInput& input);

/// What the page shows besides the report.
struct HtmlExtras {
  std::vector<std::vector<SourceExcerpt>> sources;  ///< the excerpts of each kernel; kernels past the end have none
  std::span<const KernelFitReport> fits;            ///< what bankcheck fit proposes for each kernel, or none
  std::vector<std::string> only;                    ///< names and globs, if not all kernels were asked for
  std::vector<std::string> exceeded;                ///< limits: one sentence each
  std::string date;                                 ///< when the report was written; "": not shown
};

/// The page for a browser, in HTML 5 and UTF-8: one file that loads nothing and runs no script. All texts of the report
/// are escaped, and a Content Security Policy in the page forbids scripts and requests.
std::string to_html(const RunReport& report, const HtmlExtras& extras);

}  // namespace bankwise::driver
