// Internal to common/bankwise/emulator: which of a warp's accesses a device compiler can drop or merge without changing
// the program. docs/emulator.md defines it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bankwise/trace/builder.hpp>

namespace bankwise::emulator {

/// The accesses of one block, which are added in the order of execution.
class Merging {
 public:
  explicit Merging(std::size_t warps) : warps_(warps) {}

  /// An access: pattern `number` of `patterns`. The sites are program counters. `may_change`: it is not volatile.
  void add(const std::vector<trace::Pattern>& patterns, const std::vector<trace::Site>& sites, unsigned warp,
           std::uint32_t number, bool may_change);
  /// The compiler moves no access of the warp across this point.
  void fence(unsigned warp);
  /// The patterns of a block's second trace; nothing if they are the same. Nothing may be added afterwards.
  std::optional<std::vector<trace::Pattern>> finish(const trace::KernelTrace& block);

 private:
  /// Accesses with the same lanes whose addresses lie in the same aligned bytes, for each lane.
  struct Group {
    std::uint32_t first = 0;  ///< pattern
    unsigned size = 4;        ///< bytes
    unsigned offset = 0;      ///< where the first access lies in these
    std::uint64_t hash = 0;
    unsigned covered = 0;                ///< bit b: byte b
    std::vector<std::uint32_t> members;  ///< patterns, in the order of execution
  };
  /// The last access of an instruction.
  struct Last {
    std::uint32_t pattern = 0;
    std::uintptr_t pc = 0;
    std::vector<std::uintptr_t> compared;  ///< later instructions that have executed since
  };
  struct Warp {
    std::uint32_t level = 0;
    std::deque<Group> groups;
    std::size_t bytes = 0;  ///< the sum over all groups, per lane
    std::deque<Last> last;
    std::map<std::uintptr_t, std::uint64_t> executions;  ///< by instruction, since the last fence
  };
  /// Distance of two instructions' addresses.
  struct Distance {
    std::int64_t bytes = 0;
    bool is_fixed = true;  ///< it is always the same, and neighbours always lie in one aligned block
  };
  struct Instruction {
    bool is_regular = true;         ///< its addresses are simple functions of the lane
    std::uint64_t executions = 0;   ///< between two fences
    bool repeats_regularly = true;  ///< it is always executed as often, so the compiler may have unrolled its loop
  };
  using Members = std::vector<std::uint32_t>;

  void close(Warp& warp, std::size_t number);
  void compare(Warp& warp, const std::vector<trace::Pattern>& patterns, std::uint32_t number, std::uintptr_t pc);
  bool is_fixed(std::uintptr_t a, std::uintptr_t b) const;
  bool may_merge(const trace::KernelTrace& block, const Members& members) const;

  std::vector<Warp> warps_;
  std::map<std::pair<std::uintptr_t, std::uintptr_t>, Distance> distances_;
  std::unordered_map<std::uintptr_t, Instruction> instructions_;
  std::map<Members, std::uint64_t> merged_;                                    ///< how often
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> repeated_;  ///< a pattern, and one that repeats it
};

}  // namespace bankwise::emulator
