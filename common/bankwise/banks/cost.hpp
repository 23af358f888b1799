#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <bankwise/banks/access.hpp>
#include <bankwise/banks/architecture.hpp>

namespace bankwise::banks {

/// Lanes that are served together, and how many passes they take.
struct LaneGroupCost {
  std::uint64_t lanes = 0;       ///< the active ones, bit l = lane l
  std::uint32_t first_byte = 0;  ///< where each lane's access begins; not 0 in the later requests of a split access
  std::uint16_t passes = 0, passes_max = 0;
};

/// The cost of an access. Unit: passes, the cycles of the busiest bank (NVIDIA: wavefronts).
struct Cost {
  /// For each lane group, what its busiest bank must deliver (Rule::serving defines what counts once); then their sum,
  /// or what Rule::total makes of them. Mostly: the sum over the lane groups of the most distinct words of one bank.
  unsigned passes = 0;
  unsigned ideal = 0;      ///< passes without any conflict: mostly, the lane groups that have an active lane
  unsigned conflicts = 0;  ///< passes - ideal; for atomic.cas, where each conflict takes two passes, half of that
  /// The worst choice of the hardware, if it has one (compute capability 1.x); otherwise equal to the two above.
  unsigned passes_max = 0, conflicts_max = 0;
  /// The minimum of clocks that an access takes, however few its passes: all lane groups, active or not. Measured on
  /// compute capability 9.0, where an access takes max(passes, floor) clocks; for copies, the time is not measured.
  unsigned floor = 0;
  unsigned merged_by = 0;  ///< 1 or 2: lane groups merged because the lanes n and n^merged_by agree
  unsigned lane_group_count = 0;
  std::array<LaneGroupCost, max_lane_groups> lane_groups;  ///< those with an active lane, in order
};

/// Why an access has no cost.
struct Refusal {
  enum class Reason {
    no_such_instruction,  ///< the architecture has no such operation at this width
    unknown_rule,         ///< it has, but no rule is known: Rule::refusal
    lane_beyond_warp,
    address_missing,
    source_missing,  ///< a copy without sources
    misaligned,
    inactive_row,  ///< a lane that gives a matrix row is inactive
  };
  Reason reason = Reason::no_such_instruction;
  unsigned lane = 0;  ///< the first lane at fault, if a lane is
};

/// One sentence for the user.
std::string sentence(const Architecture& architecture, const Access& access, Refusal refusal);

/// The rule for an operation at a width; null if there is none.
const Rule* find_rule(const Architecture& architecture, Operation operation, unsigned width);

/// Total: every input has a cost or a refusal. It allocates no memory.
std::variant<Cost, Refusal> cost(const Architecture& architecture, const Access& access);

/// A lane, in the bank that delivers to it.
struct Touch {
  unsigned lane_group;  ///< index into Cost::lane groups
  unsigned bank;
  unsigned turn;  ///< in which pass of this bank and lane group, from 0; lanes of one pass are served together
  unsigned lane;
};

/// Where and in which pass each lane is served, in the order of lane groups and lanes: an explanation of `cost`, which
/// must come from cost(architecture, access). If the hardware may choose, one of its best choices. Empty for cp.async:
/// in which pass it serves a lane is not known.
std::vector<Touch> layout(const Architecture& architecture, const Access& access, const Cost& cost);

/// Accesses and their total cost. Unit of passes, ideal and conflicts: passes, see Cost.
struct Tally {
  std::uint64_t accesses = 0;  ///< instructions, counted per warp
  std::uint64_t lanes = 0;     ///< active lanes, added up
  std::uint64_t passes = 0, ideal = 0, conflicts = 0;
  std::uint64_t unknown = 0;  ///< accesses without a known cost; they are not in the three above
  /// By how much passes and conflicts may be higher than that, where loops depend on other warps.
  std::uint64_t more_passes = 0, more_conflicts = 0;
  std::uint64_t without_lanes = 0;  ///< accesses by engines (engines.hpp), which have no lanes

  /// Adds an access of the lanes in `mask`, made `times` times. `cost` is null if it has no known cost.
  void add(std::uint64_t mask, const Cost* cost, std::uint64_t times = 1) {
    accesses += times;
    lanes += times * unsigned(std::popcount(mask));
    if (cost == nullptr) {
      unknown += times;
      return;
    }
    passes += times * cost->passes;
    ideal += times * cost->ideal;
    conflicts += times * cost->conflicts;
  }

  void add(const Tally& other, std::uint64_t times = 1) {
    accesses += times * other.accesses;
    lanes += times * other.lanes;
    passes += times * other.passes;
    ideal += times * other.ideal;
    conflicts += times * other.conflicts;
    unknown += times * other.unknown;
    more_passes += times * other.more_passes;
    more_conflicts += times * other.more_conflicts;
    without_lanes += times * other.without_lanes;
  }

  bool operator==(const Tally&) const = default;
};

}  // namespace bankwise::banks
