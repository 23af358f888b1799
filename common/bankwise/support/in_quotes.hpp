// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace bankwise {

/// What a user wrote, as a sentence shows it: in quotes, cut if it is long, and without what a terminal would act on.
std::string in_quotes(std::string_view text, std::size_t longest = 40);

}  // namespace bankwise
