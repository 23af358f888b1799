// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <bankwise/study/rank_result.hpp>

namespace bankwise {

/// The table for the terminal.
std::string rank_text_report(const RankReport& report);

/// The whole report as JSON (described in docs/several_gpus.md): SI base units, the unit in the key, every sample.
std::string rank_json_report(const RankReport& report);

}  // namespace bankwise
