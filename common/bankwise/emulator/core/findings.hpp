// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include <bankwise/emulator/core/launch.hpp>
#include <bankwise/trace/builder.hpp>

namespace bankwise::emulator {

/// Internal to common/bankwise/emulator: where a fault is. Program counters of calls are the address before the return
/// address, as for sites; 0 is unknown, or no second place. The order of two places does not matter: either lane of a
/// race may come first.
struct FaultPlace {
  trace::Fault fault = trace::Fault::race;
  std::uintptr_t pc = 0, other = 0;
  bool ended = false;
  auto operator<=>(const FaultPlace&) const = default;
};

/// Internal to common/bankwise/emulator: what one host thread has found in its blocks: each place once, with a count.
class Findings {
 public:
  explicit Findings(const Launch& launch);

  /// Whether the fault needs a sentence: it is neither allowed nor known. If it is known, counts it.
  bool is_news(const FaultPlace& place);
  /// Adds news. `text` describes it.
  void add(const FaultPlace& place, std::uint64_t block, unsigned warp, std::string text);

  /// Adds everything to a trace whose sites are program counters.
  void put_into(trace::Builder& builder) const;

 private:
  struct Finding {
    std::uint64_t count = 0, block = 0;
    unsigned warp = 0;
    std::string text;
    FaultPlace place;
  };
  std::uint64_t allowed_ = 0;            ///< bit f: fault f
  std::map<FaultPlace, Finding> found_;  ///< by places in the order of their addresses
};

}  // namespace bankwise::emulator
