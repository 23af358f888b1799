// The JSON report as a value, for programs that add fields.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <bankwise/study/result.hpp>

namespace bankwise::report {

using Json = nlohmann::ordered_json;

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Rounds to a picosecond, which is finer than any timer.
inline double to_picoseconds(double seconds) { return std::round(seconds * 1e12) / 1e12; }

/// The document that json_report() writes. `results` are in the order of the report.
Json json_document(const study::RunResults& run);

/// One row per line, for readers and for git's diffs.
std::string text_of(const Json& document);

/// A head line, and a line for each row with the values of these keys: empty for null, and where a row has no such key.
std::string csv_of(const std::vector<std::string>& columns, const std::vector<Json>& rows);

}  // namespace bankwise::report
