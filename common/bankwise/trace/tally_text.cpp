// SPDX-License-Identifier: MIT
#include <bankwise/trace/tally_text.hpp>

#include <fmt/format.h>

namespace bankwise {
namespace {

std::string number(const banks::Tally& tally, std::uint64_t least, std::uint64_t more) {
  if (tally.unknown > 0) return "?";
  return more == 0 ? std::to_string(least) : fmt::format("{}-{}", least, least + more);
}

}  // namespace

std::string passes_number(const banks::Tally& tally) {
  return number(tally, tally.passes, tally.more_passes);
}

std::string ideal_number(const banks::Tally& tally) {
  return number(tally, tally.ideal, 0);
}

std::string conflicts_number(const banks::Tally& tally) {
  return number(tally, tally.conflicts, tally.more_conflicts);
}

std::string passes_text(const banks::Tally& tally) {
  if (tally.unknown > 0) return "?";
  if (tally.conflicts == 0 && tally.more_conflicts == 0) return std::to_string(tally.passes);
  return fmt::format("{}/{}", passes_number(tally), tally.ideal);
}

std::string percent_text(double fraction) {
  std::string number = fmt::format("{:.1f}", 100 * fraction);
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return number;
}

}  // namespace bankwise
