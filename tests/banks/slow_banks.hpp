// A second implementation of the bank rules: slow, obvious, one small function per rule. It shares only the names of
// the operations with common/bankwise/banks, so a mistake in the model's tables or arithmetic shows as a difference.
#pragma once

#include <charconv>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/banks/access.hpp>

namespace bankwise::slow {

struct SlowCost {
  unsigned passes = 0, ideal = 0, conflicts = 0, passes_max = 0, conflicts_max = 0, floor = 0;
  bool refused = false;

  bool operator==(const SlowCost&) const = default;
};

/// The cost of `addresses` for the lanes of `mask` on an architecture. Only copies need `sources`.
SlowCost cost(std::string_view architecture, banks::Operation operation, unsigned width, std::uint64_t mask,
              const std::vector<std::uint32_t>& addresses, const std::vector<std::uint32_t>& sources);

struct SlowSectors {
  unsigned sectors = 0, ideal = 0, lines = 0, bytes = 0;
  bool refused = false;

  bool operator==(const SlowSectors&) const = default;
};

/// The same for global memory.
SlowSectors sectors(std::string_view architecture, unsigned width, std::uint64_t mask,
                    const std::vector<std::uint32_t>& addresses);

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

/// A half-warp of compute capability 1.x that loads: a list of banks, each the lanes waiting for each of its words.
using HalfWarp = std::vector<std::vector<unsigned>>;
struct Steps {
  unsigned least = 0, most = 0;
};
/// Over every choice of the hardware, tried one by one.
Steps steps(HalfWarp half_warp);

/// A copy through the L1 cache: a lane waits for each lane of its lane group that reads the same slot of a 128-byte
/// line, or writes the same one.
Steps max_met(const Lanes& lanes, unsigned width);
/// A copy past the L1 cache.
SlowCost past_l1(const Lanes& lanes);

}  // namespace bankwise::slow
