// SPDX-License-Identifier: MIT
//
// The lanes of the second implementation, and lane groups as text.
#pragma once

#include <charconv>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bankwise::slow {

struct Lane {
  unsigned number = 0;
  std::uint64_t byte = 0;
  std::uint64_t source = 0;  ///< of a copy
};
using Lanes = std::vector<Lane>;
using LaneGroups = std::vector<std::set<unsigned>>;

inline unsigned number(std::string_view text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == separator) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

/// "0-3,20-23 4-7,16-19": the lanes of each lane group.
inline LaneGroups lane_groups(std::string_view text) {
  LaneGroups result;
  for (const auto& lane_group : split(text, ' ')) {
    result.emplace_back();
    for (const auto& run : split(lane_group, ',')) {
      const auto ends = split(run, '-');
      for (unsigned lane = number(ends.front()); lane <= number(ends.back()); ++lane) result.back().insert(lane);
    }
  }
  return result;
}

}  // namespace bankwise::slow
