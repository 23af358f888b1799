// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace bankwise {

/// User input as an error message quotes it: in quotes, truncated if it is long, and without control characters.
std::string in_quotes(std::string_view text, std::size_t longest = 40);

}  // namespace bankwise
