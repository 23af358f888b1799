// Internal to common/bankwise/emulator: the faults that a host thread finds, and signals that are faults.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <bankwise/emulator/core/launch.hpp>
#include <bankwise/trace/builder.hpp>

namespace bankwise::emulator {

/// A fault of lanes. `pc` and `other_pc` are return addresses; `other_pc` is 0 if there is one place.
struct LaneFault {
  trace::Fault fault;
  std::uintptr_t pc;
  std::vector<unsigned> lanes;
  std::string text;  ///< begins with a verb: what the lanes do
  std::uintptr_t other_pc = 0;
  trace::Switch silenced_by = trace::row_of(fault).silenced_by;
  bool within_warp = false;  ///< a race of lanes of one warp
};

struct Lane;
struct RunningBlock;

/// A fault of one lane, where it is suspended.
LaneFault fault_of(const Lane& lane, trace::Fault fault, std::string text, std::uintptr_t other_pc = 0);

/// Thrown if a fault that is not fatal ends the launch; the reports have it.
struct LaunchEnded {};

/// Reports the faults of the blocks that a host thread runs: each place once, with a count.
class FaultReports {
 public:
  FaultReports(const Launch& launch, const RunningBlock& block);

  /// Whether a fault must be reported; otherwise it is allowed, or known and counted. A race between warps is news
  /// after one `within_warp`, which would hide it: a __syncwarp() orders only the latter.
  bool is_news(trace::Fault fault, std::uintptr_t pc, std::uintptr_t other_pc = 0, bool within_warp = false) {
    return is_news(FaultPlace(fault, pc, other_pc, false), within_warp);
  }
  /// A fault that is news and that the launch survives. Error: Diagnosis if faults are fatal.
  void report(const LaneFault& fault);
  /// A fault after which nothing sensible can follow. Errors: Diagnosis if faults are fatal, otherwise LaunchEnded.
  [[noreturn]] void end(const LaneFault& fault);

  /// Adds everything to a trace whose sites are program counters.
  void put_into(trace::Builder& builder) const;

 private:
  /// Where a fault is. Program counters of calls are the address before the return address, as for sites; 0 is unknown,
  /// or no second place.
  struct FaultPlace {
    FaultPlace(trace::Fault fault_, std::uintptr_t pc_, std::uintptr_t other_pc, bool ended_)
        : fault(fault_), pc(pc_ - (pc_ != 0)), other(other_pc - (other_pc != 0)), ended(ended_) {}
    trace::Fault fault;
    std::uintptr_t pc, other;
    bool ended;
    auto operator<=>(const FaultPlace&) const = default;
  };
  struct Finding {
    std::uint64_t count = 0, block = 0;
    unsigned warp = 0;
    std::string text;
    FaultPlace place;
    bool within_warp = false;
  };
  /// The order of two places does not matter: either lane of a race may come first.
  static FaultPlace in_order(FaultPlace place);
  bool is_news(const FaultPlace& place, bool within_warp = false);
  void add(const LaneFault& fault, const FaultPlace& place);
  std::string sentence(const LaneFault& fault) const;

  const Launch& launch_;
  const RunningBlock& block_;
  std::uint64_t allowed_ = 0;            ///< bit f: fault f
  std::map<FaultPlace, Finding> found_;  ///< by places in the order of their addresses
};

/// During its lifetime, a segmentation fault or a division by zero in a kernel ends the launch with a diagnosis, not
/// the program. Signals from other code go to the previous handlers.
class FaultGuard {
 public:
  FaultGuard();
  ~FaultGuard();
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;
};

/// The same for the calling thread: a stack that the handler runs on, and a clock that ends a lane which comes to no
/// step for more than a second: g++ does not instrument an endless loop without a statement.
class SignalStack {
 public:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

  /// Where the thread was when the clock ticked last.
  struct Watch {
    const void* lane = nullptr;
    std::array<unsigned, 3> block{};  ///< blocks are alike: the next may be at the same step
    std::uint64_t steps = 0;
    unsigned noted = 0;
    bool operator==(const Watch&) const = default;
  };

 private:
  std::unique_ptr<std::byte[]> memory_;
  bool installed_ = false;
  Watch watch_;
  timer_t timer_{};
  bool has_timer_ = false;
};

}  // namespace bankwise::emulator
