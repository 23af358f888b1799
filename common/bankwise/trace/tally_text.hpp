// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <bankwise/banks/tally.hpp>

namespace bankwise {

/// "24", or "48/24" for 48 passes with an ideal of 24, so a slash marks conflicts; "?" if the model has no cost.
std::string passes_text(const banks::Tally& tally);

/// Columns of a table: "24", "24-96" for a range, "?" if the model has no cost.
std::string passes_number(const banks::Tally& tally);
std::string ideal_number(const banks::Tally& tally);
std::string conflicts_number(const banks::Tally& tally);

/// "100", "12.5".
std::string percent_text(double fraction);

}  // namespace bankwise
