// SPDX-License-Identifier: MIT
//
// The JSON report as a value, for a program that adds something of its own.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include <bankwise/study/result.hpp>

namespace bankwise {

using Json = nlohmann::ordered_json;

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// What json_report() writes. `results` are in the order of the report's.
Json json_document(const Report& report);

/// One row a line: a person can read it, and git can show what changed.
std::string text_of(const Json& document);

}  // namespace bankwise
