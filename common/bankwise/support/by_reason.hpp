// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bankwise {

/// "  naive, padded: reason" for each reason, in the order in which they first appear; of pairs of a name and its reason.
std::string by_reason(const std::vector<std::pair<std::string, std::string>>& names);

}  // namespace bankwise
