// SPDX-License-Identifier: MIT
#include <bankwise/trace/architecture_named.hpp>

#include <vector>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/suggestion.hpp>

namespace bankwise {

const banks::Architecture& architecture_named(std::string_view name) {
  if (const auto* found = banks::find_architecture(name)) return *found;
  std::vector<std::string_view> known;
  for (const auto& architecture : banks::architectures()) known.push_back(architecture.name);
  throw UsageError(no_such("architecture", name, known, "bankcheck archs"));
}

}  // namespace bankwise
