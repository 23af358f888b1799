// SPDX-License-Identifier: MIT
#include <bankwise/banks/access.hpp>

#include <algorithm>

namespace bankwise::banks {
namespace {

constexpr std::string_view names[operation_count]{"load",        "store",       "atomic",      "atomic.inc",
                                                  "atomic.cas",  "ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4",
                                                  "stmatrix.x1", "stmatrix.x2", "stmatrix.x4", "cp.async"};

}  // namespace

std::string_view to_string(Operation operation) {
  return names[int(operation)];
}

std::optional<Operation> operation_named(std::string_view name) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return std::nullopt;
  return Operation(found - std::begin(names));
}

}  // namespace bankwise::banks
