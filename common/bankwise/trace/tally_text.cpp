// SPDX-License-Identifier: MIT
#include <bankwise/trace/tally_text.hpp>

#include <fmt/format.h>

namespace bankwise {

std::string passes_text(const banks::Tally& tally) {
  if (tally.unknown > 0) return "?";
  if (tally.conflicts == 0) return std::to_string(tally.passes);
  return fmt::format("{}/{}", tally.passes, tally.ideal);
}

std::string percent_text(double fraction) {
  std::string number = fmt::format("{:.1f}", 100 * fraction);
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return number;
}

}  // namespace bankwise
