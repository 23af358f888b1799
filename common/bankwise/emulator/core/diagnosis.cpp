// SPDX-License-Identifier: MIT
#include <bankwise/emulator/core/diagnosis.hpp>

#include <fmt/ranges.h>

#include <algorithm>

namespace bankwise::emulator {
namespace {

/// "lane 7", "lanes 0-31 and 40".
std::string listed(std::vector<unsigned> lanes) {
  std::sort(lanes.begin(), lanes.end());
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < lanes.size();) {
    std::size_t end = i + 1;
    while (end < lanes.size() && lanes[end] == lanes[end - 1] + 1) ++end;
    runs.push_back(end - i == 1   ? fmt::format("{}", lanes[i])
                   : end - i == 2 ? fmt::format("{}, {}", lanes[i], lanes[i + 1])
                                  : fmt::format("{}-{}", lanes[i], lanes[end - 1]));
    i = end;
  }
  constexpr std::size_t max_runs = 6;
  if (runs.size() > max_runs) {
    runs.resize(max_runs);
    runs.emplace_back("...");
  }
  return fmt::format("{} {}", lanes.size() == 1 ? "lane" : "lanes", fmt::join(runs, ", "));
}

}  // namespace

std::string sentence_about(Fault fault, Dim3 block, const std::vector<unsigned>& lanes, const std::string& kernel,
                           const std::string& what, const trace::Switch& silenced_by) {
  // For a race, `what` names the second lane.
  const bool names_one = fault == Fault::race || fault == Fault::lanes_collide;
  std::string sentence =
      fmt::format("{} of block ({}, {}, {}) of {} {}", listed(names_one ? std::vector{lanes.front()} : lanes), block.x,
                  block.y, block.z, kernel, what);
  if (silenced_by.member.empty()) return sentence;
  sentence += fmt::format(" [{}", silenced_by.member);
  if (!silenced_by.flag.empty()) sentence += fmt::format(" or {}", silenced_by.flag);
  return sentence + ']';
}

Diagnosis diagnosis(Fault fault, trace::Site site, Dim3 block, std::vector<unsigned> lanes,
                    const std::string& sentence) {
  const std::string where = site.line == 0 ? "?" : fmt::format("{}:{}", site.file, site.line);
  const std::string whole = fmt::format("{}: {}: {}", where, to_string(fault), sentence);
  return {fault, std::move(site), block, std::move(lanes), whole};
}

}  // namespace bankwise::emulator
