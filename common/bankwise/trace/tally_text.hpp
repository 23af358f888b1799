// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <bankwise/banks/tally.hpp>

namespace bankwise {

/// "24", or "48/24" where conflicts make 48 of 24 passes, so that who looks for conflicts looks for strokes; "?" where
/// the model lacks a cost.
std::string passes_text(const banks::Tally& tally);

/// "100", "12.5".
std::string percent_text(double fraction);

}  // namespace bankwise
