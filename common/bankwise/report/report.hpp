// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <bankwise/study/result.hpp>

namespace bankwise {

/// The whole report as JSON (docs/measuring.md describes it): SI base units, the unit in the key, every sample.
std::string json_report(const Report& report);

/// One line a row and a head line: the JSON's rows with the number of samples instead of the samples.
std::string csv_report(const Report& report);

/// The tables that a person reads, one a device.
std::string text_report(const Report& report);

/// The part of it that tells what lanes and banks do between two barriers, a table for each architecture. Wraps before
/// column 100.
std::string levels_text(const Report& report);

/// A picture of the same, of the first architecture: lanes by levels, a panel for each variant.
std::string levels_svg(const Report& report);

/// The part of the text that shows hardware counters beside the model, a table for each device. Empty without --counters.
std::string counters_text(const Report& report);

/// A run to compare with: the text of a file that json_report() made.
class Baseline {
 public:
  /// Errors: UsageError if the file cannot be read or is not such a report of this case study.
  Baseline(const CaseStudy& study, const std::string& path);

  /// A table of the rows that both runs have (same API, device name, variant, scope, cache and extent): old and new
  /// median and their ratio. Calls a row faster or slower only if the difference is beyond the noise of both. A row that had a time and is now
  /// wrong, or failed, is in the table, too.
  std::string compare(const Report& report) const;

 private:
  std::string path_, text_;
};

}  // namespace bankwise
