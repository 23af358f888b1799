// SPDX-License-Identifier: MIT
//
// Where in its kernel a lane is, so that lanes can be compared that ran one after another.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace bankwise::opencl {

/// Numbers for paths: the same steps have the same number.
class Paths {
 public:
  static constexpr std::uint32_t root = 0;

  std::uint32_t step(std::uint32_t from, const void* site, std::uint64_t turn) {
    return steps_.try_emplace({from, site, turn}, std::uint32_t(steps_.size() + 1)).first->second;
  }
  /// Forgets all.
  void clear() {
    steps_.clear();
    ++epoch_;
  }
  std::uint64_t epoch() const { return epoch_; }

 private:
  struct Step {
    std::uint32_t from;
    const void* site;
    std::uint64_t turn;
    bool operator==(const Step&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Step& step) const {
      const auto site = reinterpret_cast<std::uintptr_t>(step.site);
      return (site ^ step.from * 0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93 + step.turn * 0xC2B2AE3D27D4EB4F;
    }
  };
  std::unordered_map<Step, std::uint32_t, Hash> steps_;
  std::uint64_t epoch_ = 1;
};

/// The calls that a lane is in, and in each the loops with their turns: lanes at the same instruction with the same path
/// execute it together on a GPU, which brings them together again behind each branch and each loop.
class LanePath {
 public:
  void enter_call(const void* call) {
    calls_.push_back(steps_.size());
    steps_.push_back({call, 0});
  }
  void leave_call() {
    steps_.resize(calls_.back());
    calls_.pop_back();
  }
  /// The lane comes, by a jump within its function, to a block that lies in these loops, the outermost first. Each loop
  /// is named by its header; `is_header` says that the block is the last one's.
  void enter_block(const std::vector<const void*>& loops, bool is_header) {
    const std::size_t first = calls_.empty() ? 0 : calls_.back() + 1;
    std::size_t same = 0;
    while (same < loops.size() && first + same < steps_.size() && steps_[first + same].site == loops[same]) ++same;
    steps_.resize(first + same);
    if (is_header && same == loops.size()) {
      steps_.back() = {loops.back(), steps_.back().turn + 1};
    }
    for (; same < loops.size(); ++same) steps_.push_back({loops[same], 0});
  }

  std::uint32_t number(Paths& paths) {
    std::size_t known = steps_.size();
    while (known > 0 && steps_[known - 1].epoch != paths.epoch()) --known;
    for (; known < steps_.size(); ++known) {
      Step& step = steps_[known];
      step.number = paths.step(known == 0 ? Paths::root : steps_[known - 1].number, step.site, step.turn);
      step.epoch = paths.epoch();
    }
    return steps_.empty() ? Paths::root : steps_.back().number;
  }

 private:
  struct Step {
    const void* site;
    std::uint64_t turn;
    std::uint64_t epoch = 0;   ///< of Paths, in which
    std::uint32_t number = 0;  ///< holds
  };
  std::vector<Step> steps_;
  std::vector<std::size_t> calls_;  ///< where in steps_ each begins
};

}  // namespace bankwise::opencl
