// SPDX-License-Identifier: MIT
//
// Makes accesses of warps out of accesses of lanes that ran one after another, and adds up what they cost.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include "bankcheck/opencl/plugin/code.hpp"
#include "bankcheck/opencl/plugin/lane_path.hpp"

namespace bankwise::opencl {

/// Where arrays begin in the model's shared memory: at bank 0 of every architecture. A device puts them elsewhere, which
/// makes no difference to an access that stays in one: a shift rotates the banks.
inline constexpr std::uint32_t array_stride = 1 << 16;

struct LocalArray {
  std::string name;
  std::uint32_t begin = 0;  ///< a multiple of array_stride
};

/// What an instruction of a lane did.
struct LaneAccess {
  const Instruction* instruction = nullptr;
  banks::Operation operation = banks::Operation::load;
  unsigned bytes = 4;
  std::uint32_t array = 0;  ///< number of a LocalArray
  std::uint32_t offset = 0;
};

/// Records one work-group after another. Lanes are numbered x fastest; between two barriers a lane runs to its end
/// before the next, and 64 of them are remembered at a time. One thread's.
class GroupRecorder {
 public:
  /// Accesses of 64 lanes that all threads together remember between two barriers: about 600 bytes each.
  static constexpr std::size_t max_rows = std::size_t{1} << 22;

  explicit GroupRecorder(std::vector<const banks::Architecture*> architectures);

  GroupRecorder(GroupRecorder&&) = default;
  GroupRecorder(const GroupRecorder&) = delete;
  ~GroupRecorder() { forget_rows(); }

  void begin(std::uint64_t group, std::vector<LocalArray> arrays);
  void access(unsigned lane, LanePath& path, const LaneAccess& access);
  void barrier();
  /// Adds the group's accesses to a launch that began with the same architectures.
  void end(Launch& launch);

 private:
  struct Key {
    const Instruction* instruction;
    std::uint32_t path,
        again;  ///< `again`: how often the lane had done that already, in a cycle that is no natural loop
    std::uint32_t bytes;
    banks::Operation operation;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      const auto instruction = reinterpret_cast<std::uintptr_t>(key.instruction);
      return (instruction ^ key.path * 0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93 + key.again + unsigned(key.operation);
    }
  };
  /// What 64 lanes did together.
  struct Row {
    Key key;
    std::uint64_t mask = 0;
    std::array<std::uint32_t, banks::max_lanes> addresses;
    std::array<std::uint16_t, banks::max_lanes> arrays;
  };
  using LineKey = std::tuple<const Instruction*, banks::Operation, unsigned, std::uint32_t>;  // width, array
  struct Sums {
    std::map<LineKey, LineTally> lines;
    std::vector<LevelTally> levels;
    std::vector<std::string> unknown;
  };

  Row* row_of(unsigned lane, std::uint32_t path, const LaneAccess& access);
  void forget_rows();
  void flush();
  void add_warps(const banks::Architecture& architecture, Sums& sums);
  void add_access(const banks::Architecture& architecture, Sums& sums, const Row& row, unsigned first,
                  std::uint64_t mask);

  std::vector<const banks::Architecture*> architectures_;
  std::vector<Sums> sums_;  ///< of each architecture
  std::vector<LocalArray> arrays_;
  std::uint64_t group_ = 0;
  std::uint32_t level_ = 0;
  unsigned chunk_ = 0;  ///< lanes 64 * chunk_ and following are in rows_
  Paths paths_;
  std::vector<Row> rows_;
  std::size_t next_row_ = 0;  ///< a guess: what the lane before did next
  std::unordered_map<Key, std::size_t, Hash> index_;
  std::uint64_t left_out_ = 0;
  static inline std::atomic<std::size_t> all_rows_ = 0;  ///< of all recorders
};

}  // namespace bankwise::opencl
