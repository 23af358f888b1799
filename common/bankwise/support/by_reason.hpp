// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bankwise {

/// "  naive, padded: reason" for each reason, in order of first appearance. The input holds pairs of a name and its
/// reason.
std::string by_reason(const std::vector<std::pair<std::string, std::string>>& names);

}  // namespace bankwise
