// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <string>

namespace bankwise::driver {

/// A place in the source of an OpenCL program. `file` is the compiler's name for it; line and column 0: unknown.
struct Place {
  std::string file;
  unsigned line = 0, column = 0;
  auto operator<=>(const Place&) const = default;
};

}  // namespace bankwise::driver
