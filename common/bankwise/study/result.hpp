// SPDX-License-Identifier: MIT
//
// The results of a run, before they are printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/gpu/device.hpp>
#include <bankwise/study/case_study.hpp>
#include <bankwise/study/counter_result.hpp>
#include <bankwise/study/levels.hpp>
#include <bankwise/study/timing.hpp>

namespace bankwise {

/// What the measured time is spent on: the shared-memory section, repeated inside the blocks; a problem that fits the
/// last-level cache; a problem in DRAM.
enum class Scope { block, l2, memory };
enum class Cache { cold, hot };
enum class Status { ok, wrong, skipped, unsupported, error };

constexpr std::string_view to_string(Scope scope) {
  constexpr std::string_view names[]{"block", "l2", "memory"};
  return names[int(scope)];
}
constexpr std::string_view to_string(Cache cache) {
  return cache == Cache::cold ? "cold" : "hot";
}
constexpr std::string_view to_string(Status status) {
  constexpr std::string_view names[]{"ok", "wrong", "skipped", "unsupported", "error"};
  return names[int(status)];
}

/// The name of the row that copies memory on the device: the reference of the others.
inline constexpr std::string_view copy_row = "copy";

/// One variant on one device. Times in seconds; in the block scope, of one iteration of the section.
struct Result {
  const gpu::DeviceInfo* device = nullptr;
  std::string variant;
  std::string library;  ///< name and version, for the row of a vendor's library
  Scope scope = Scope::memory;
  Cache cache = Cache::cold;
  Extent extent;
  std::uint64_t bytes = 0;  ///< compulsory traffic
  Status status = Status::skipped;
  std::string reason;        ///< one line, for every status except ok
  std::size_t launches = 0;  ///< timed launches per run
  unsigned repeats = 1;      ///< of the shared-memory section; more than 1 in the block scope
  Timing timing;
  std::string dropped_because;             ///< gpu::throttling_in() of the dropped samples; empty if there are none
  std::optional<double> bytes_per_second;  ///< empty in the block scope, where time is not spent on traffic
  std::optional<double> of_copy;
  std::optional<double> speedup;                      ///< relative to CaseStudy::baseline
  std::optional<CounterResult> counters;              ///< if requested
  const banks::Architecture* architecture = nullptr;  ///< of the bank model
};

/// Everything about one run.
struct Report {
  const CaseStudy* study = nullptr;
  std::vector<std::string> command;
  std::vector<gpu::DeviceInfo> devices;
  std::vector<Result> results;
  std::vector<VariantLevels> levels;  ///< for each architecture that a device is assumed to have; empty: not requested
};

/// A row faster than this fraction of copy probably measures a cache instead of memory.
inline constexpr double suspicious_of_copy = 1.05;

}  // namespace bankwise
