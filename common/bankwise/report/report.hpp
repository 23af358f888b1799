// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <bankwise/study/result.hpp>

namespace bankwise::report {

/// The whole report as JSON (described in docs/measuring.md, and for several ranks in docs/several_gpus.md): SI base
/// units, the unit in the key, every sample.
std::string json_report(const Report& report);

/// A head line and one line per row: the JSON's rows with the number of samples instead of the samples.
std::string csv_report(const Report& report);

/// The tables for the terminal, one per device, or one for all ranks.
std::string text_report(const Report& report);

/// The part of the text report about levels: the work of lanes and banks between two barriers, one table per
/// architecture. Wraps before column 100.
std::string levels_text(const Report& report);

/// A picture of the levels on the first architecture: lanes by levels, one panel per variant.
std::string levels_svg(const Report& report);

/// The part of the text report that compares hardware counters with the model, one table per device. Empty without
/// --counters.
std::string counters_text(const Report& report);

/// A previous run to compare with: the contents of a file that json_report() wrote.
class EarlierRun {
 public:
  /// Errors: UsageError if the file cannot be read or is not such a report of this case study.
  EarlierRun(const CaseStudy& study, const std::string& path);

  /// A table of the rows that both runs have (same API, device name, variant, scope, cache and extent): old and new
  /// median and their ratio. Calls a row faster or slower only if the difference exceeds the noise of both. The table
  /// includes rows that had a time and are now wrong, or failed.
  std::string compare(const Report& report) const;

 private:
  std::string path_, text_;
};

}  // namespace bankwise::report
