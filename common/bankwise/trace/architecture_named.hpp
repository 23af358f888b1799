// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include <bankwise/banks/architecture.hpp>

namespace bankwise {

/// The architecture that a user names. Error: UsageError, which suggests the nearest name.
const banks::Architecture& architecture_named(std::string_view name);

}  // namespace bankwise
