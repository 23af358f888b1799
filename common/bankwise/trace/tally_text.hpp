// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <bankwise/banks/tally.hpp>

namespace bankwise {

/// "24", or "48/24" if conflicts turn 24 passes into 48, so a slash marks a conflict; "?" if the model has no cost.
std::string passes_text(const banks::Tally& tally);

/// "100", "12.5".
std::string percent_text(double fraction);

}  // namespace bankwise
