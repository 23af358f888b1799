// The reports of case studies.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <bankwise/report/sink.hpp>
#include <bankwise/study/result.hpp>

namespace bankwise::report {

/// The formats of a case study's run.
std::span<const Sink<study::RunResults>> sinks();

inline constexpr const char *json_help =
                                "Write the results to this file as JSON; - writes them to stdout and prints nothing "
                                "else",
                            *csv_help = "Write the results to this file as CSV, one line per variant; - is stdout";

/// The whole report as JSON (docs/measuring.md, docs/several_gpus.md): SI units in the keys, every sample.
std::string json_report(const study::RunResults& run);

/// A head line and one line per row: the JSON's rows with the number of samples instead of the samples.
std::string csv_report(const study::RunResults& run);

/// The tables for the terminal, one per device, or one for all ranks.
std::string text_report(const study::RunResults& run);

/// The text report's levels: the work of lanes and banks between two barriers, by architecture, in 100 columns.
std::string levels_text(const study::RunResults& run);

/// Why a variant has no levels, "no shared memory" or "not emulated: ..." with the reason.
std::string why_no_levels(const study::VariantLevels& variant);

/// A picture of the levels on the first architecture: lanes by levels, one panel per variant.
std::string levels_svg(const study::RunResults& run);

/// The part of the text report that compares hardware counters with the model, by device. Empty without --counters.
std::string counters_text(const study::RunResults& run);

/// A note about the rows of a device that cannot be told from the baseline (without one: from the first variant),
/// because they or it never became quiet. Empty if there are none.
std::string too_noisy(std::string_view baseline, std::span<const study::Result> results);

/// A previous run to compare with: the contents of a file that json_report() wrote.
class EarlierRun {
 public:
  /// Without a path there was none. Error: UsageError if the file cannot be read or is no report of the case study.
  EarlierRun(const study::CaseStudy& study, const std::string& path);

  /// A table of the rows that both runs have (same API, device name, variant, scope, cache and extent): old and new
  /// median and their ratio. Calls a row faster or slower only if the difference exceeds the noise of both. The table
  /// includes rows that had a time and are now wrong, or failed. Empty if there was no earlier run.
  std::string compare(const study::RunResults& run) const;

 private:
  std::string path_, text_;
};

}  // namespace bankwise::report
