// SPDX-License-Identifier: MIT
//
// Makes accesses of 64 lanes out of accesses of lanes that ran one after another, and counts them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <bankwise/trace/builder.hpp>
#include "bankcheck/opencl/plugin/code.hpp"
#include "bankcheck/opencl/plugin/lane_path.hpp"

namespace bankwise::opencl {

/// Where arrays begin in the model's shared memory: at bank 0 of every architecture. A device puts them elsewhere,
/// which makes no difference to an access that stays in one: a shift rotates the banks.
inline constexpr std::uint32_t array_stride = 1 << 16;

struct LocalArray {
  std::string name;
  std::uint32_t begin = 0;  ///< a multiple of array_stride
  std::uint32_t bytes = 0;  ///< 0: not known
};

/// What an instruction of a lane did.
struct LaneAccess {
  const Instruction* instruction = nullptr;
  banks::Operation operation = banks::Operation::load;
  unsigned bytes = 4;
  std::uint32_t array = 0;  ///< number of a LocalArray
  std::uint32_t offset = 0;
};

/// Records one work-group of a launch after another. Lanes are numbered x fastest; between two barriers a lane runs to
/// its end before the next, and 64 of them are remembered at a time. One thread's.
class GroupRecorder {
 public:
  /// Accesses of 64 lanes that all threads together remember between two barriers: about 600 bytes each.
  static constexpr std::size_t max_rows = std::size_t{1} << 22;

  explicit GroupRecorder(trace::Bound bound);

  GroupRecorder(GroupRecorder&&) = default;
  GroupRecorder(const GroupRecorder&) = delete;
  ~GroupRecorder() { forget_rows(); }

  void begin(std::uint64_t group, const std::vector<LocalArray>& arrays);
  void access(unsigned lane, LanePath& path, const LaneAccess& access);
  void barrier();
  /// By async_work_group_copy, which has no lanes and no cost here.
  void copied(std::uint64_t bytes) { builder_.trace().copied_bytes += bytes; }
  /// The group has ended.
  void end();

  /// What its groups did; the kernel's name and shape are left to the caller. The recorder is spent.
  trace::KernelTrace take() { return builder_.take(); }

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
  Row* row_of(unsigned lane, std::uint32_t path, const LaneAccess& access);
  void forget_rows();
  void flush();
  void add(const Row& row);
  std::uint32_t site_of(const Instruction* instruction);

  trace::Builder builder_;
  std::vector<std::uint32_t> arrays_,
      begins_;  ///< the group's arrays: their numbers in the trace, and where they begin
  std::unordered_map<const Instruction*, std::uint32_t> sites_;
  trace::Pattern pattern_;  ///< that is added: made once, for its lists
  std::uint64_t group_ = 0;
  std::uint32_t level_ = 0;
  std::uint64_t accesses_ = 0;  ///< of the group
  unsigned chunk_ = 0;          ///< lanes 64 * chunk_ and following are in rows_
  Paths paths_;
  std::vector<Row> rows_;
  std::size_t next_row_ = 0;  ///< a guess: what the lane before did next
  std::unordered_map<Key, std::size_t, Hash> index_;
  static inline std::atomic<std::size_t> all_rows_ = 0;  ///< of all recorders
};

}  // namespace bankwise::opencl
