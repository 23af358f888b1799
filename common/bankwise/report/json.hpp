// SPDX-License-Identifier: MIT
//
// The JSON report as a value, for programs that add fields.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

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
Json json_document(const Report& report);

/// One row per line, for readers and for git's diffs.
std::string text_of(const Json& document);

}  // namespace bankwise::report
