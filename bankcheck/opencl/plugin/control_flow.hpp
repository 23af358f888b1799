// The loops of a kernel, and the position of a lane in its control flow, for matching lanes that ran one after another.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace bankwise::opencl {

/// For each block of a control-flow graph, the headers of the natural loops that contain it, the outermost first. A
/// header belongs to its own loop. `successors[b]` are the successors of block b, and block 0 is the entry. Loops with
/// the same header are one loop. A cycle with several entry blocks is not a natural loop.
std::vector<std::vector<unsigned>> natural_loops(const std::vector<std::vector<unsigned>>& successors);

/// As natural_loops(), but a block that exits a loop and stands among its blocks also belongs to the loop, as in
/// `if (found) { tile[i] = x; break; }`: GPU compilers let lanes execute it iteration by iteration. Blocks are numbered
/// in source order.
std::vector<std::vector<unsigned>> loops_in_layout(const std::vector<std::vector<unsigned>>& successors);

/// A basic block.
struct Block {
  std::vector<const void*> loops;  ///< the headers of the loops that contain it, the outermost first
  bool is_header = false;          ///< of the innermost loop
};

/// Numbers for paths: the same steps have the same number.
class Paths {
 public:
  static constexpr std::uint32_t root = 0;

  std::uint32_t step(std::uint32_t from, const void* site, std::uint64_t turn) {
    return steps_.try_emplace({from, site, turn}, std::uint32_t(steps_.size() + 1)).first->second;
  }
  /// Forgets all numbers.
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

/// The active calls of a lane, and in each call the active loops with their iterations. Lanes at the same instruction
/// with the same path execute it together on a GPU, because a GPU reconverges them after each branch and each loop.
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
  /// The lane jumps, within its function, to a block. A loop is identified by its header.
  void enter_block(const Block& block) {
    const auto& [loops, is_header] = block;
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
    std::uint64_t epoch = 0;   ///< the epoch of Paths in which
    std::uint32_t number = 0;  ///< holds
  };
  std::vector<Step> steps_;
  std::vector<std::size_t> calls_;  ///< where in steps_ each begins
};

}  // namespace bankwise::opencl
