// SPDX-License-Identifier: MIT
//
// Finds an architecture by name or alias.
#include <bankwise/banks/architecture.hpp>

#include <algorithm>

namespace bankwise::banks {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

bool has_alias(std::string_view aliases, std::string_view name) {
  while (!aliases.empty()) {
    const auto end = std::min(aliases.find(' '), aliases.size());
    if (same_name(aliases.substr(0, end), name)) return true;
    aliases.remove_prefix(std::min(end + 1, aliases.size()));
  }
  return false;
}

}  // namespace

std::string_view to_string(Evidence evidence) {
  constexpr std::string_view names[]{"measured here", "measured by others", "vendor", "inferred"};
  return names[int(evidence)];
}

const Architecture* find_architecture(std::string_view name) {
  // sm_90a and sm_100f name features of the compiler, not another memory.
  if (same_name(name.substr(0, 3), "sm_") && name.find_last_of("aAfF") == name.size() - 1) name.remove_suffix(1);
  const auto all = architectures();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Architecture& architecture) {
    return same_name(architecture.name, name) || has_alias(architecture.aliases, name);
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace bankwise::banks
