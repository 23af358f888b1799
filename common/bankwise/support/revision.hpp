// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace bankwise {

/// Version and commit of the sources, "0.1.0-3f2a1b0", with "+" if they were changed since.
std::string_view revision();

}  // namespace bankwise
