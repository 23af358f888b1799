// The results of a run, before they are printed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/gpu/device.hpp>
#include <bankwise/study/case_study.hpp>
#include <bankwise/study/levels.hpp>

namespace bankwise::study {

/// What the measured time is spent on: the shared-memory section, repeated inside the blocks; a problem that fits the
/// last-level cache; a problem in DRAM.
enum class Scope { block, l2, memory };
enum class Cache { cold, hot };
enum class Status { ok, wrong, skipped, unsupported, error };

constexpr std::string_view to_string(Scope scope) {
  constexpr std::string_view names[]{"block", "l2", "memory"};
  return names[int(scope)];
}
constexpr std::string_view to_string(Cache cache) { return cache == Cache::cold ? "cold" : "hot"; }
constexpr std::string_view to_string(Status status) {
  constexpr std::string_view names[]{"ok", "wrong", "skipped", "unsupported", "error"};
  return names[int(status)];
}

/// The rows that are not variants: a copy within the device's memory, the reference of the others; and on several ranks
/// a copy into the memory of the next rank's device, and RankStudy::alone, a separate problem on each rank.
inline constexpr std::string_view copy_row = "copy", peer_copy_row = "peer_copy", alone_row = "alone";

constexpr bool is_variant(std::string_view row) { return row != copy_row && row != peer_copy_row && row != alone_row; }

/// The samples of one row, and what follows from them. Times in seconds, noise as a fraction.
struct Timing {
  unsigned batch = 1;  ///< runs in one sample; a sample is their mean
  std::vector<double> samples;
  std::size_t dropped = 0;      ///< samples that do not count because a device throttled
  std::string launch_overhead;  ///< why the samples may include launch overhead, as one sentence; empty: they do not
  std::string stop;             ///< why measuring ended
  std::optional<double> median, min;
  std::optional<double> noise;  ///< empty for too few samples
};

/// What a row on several ranks has in addition. Times in seconds.
struct Scaling {
  std::string alone;             ///< the case study's variant of the row `alone`
  std::uint64_t link_bytes = 0;  ///< bytes that must leave the rank with the most
  /// The shortest time that the measured copies allow: the longer of the memory's and the link's.
  std::optional<double> floor_s;
  std::optional<double> of_floor;     ///< floor_s / the median
  std::optional<double> weak;         ///< weak scaling: the time of the row `alone` / the median
  std::optional<double> exchanges_s;  ///< in plans with exchanges, the time of these alone,
  std::optional<double> launches_s;   ///< and of the launches alone
  std::optional<double> exchanging;   ///< the exchanges' share of the time: 1 - launches_s / the median
};

/// How busy a row keeps an NVIDIA GPU, as report/busy.hpp computes it from the bank model and the device's clock.
struct Limits {
  double shared_busy = 0;         ///< of the busiest multiprocessor's shared memory, as a share of the median
  std::optional<double> speedup;  ///< at most, without conflicts
  double least_s = 0;             ///< shared memory and DRAM need at least this; 0: they are not used
};

/// One variant on one device; or on several ranks, from a common start to the end on the slowest rank. Times in
/// seconds; in the block scope, of one iteration of the section.
struct Result {
  const gpu::DeviceInfo* device = nullptr;
  std::string variant;
  std::string library;  ///< name and version, for the row of a vendor's library
  Scope scope = Scope::memory;
  Cache cache = Cache::cold;
  Extent extent;
  std::uint64_t bytes = 0;  ///< compulsory traffic; on several ranks, of the rank with the most, in its own memory
  Status status = Status::skipped;
  std::string reason;        ///< one line, for every status except ok
  std::size_t launches = 0;  ///< timed launches per run
  unsigned repeats = 1;      ///< runs of the shared-memory section; more than 1 in the block scope
  Timing timing;
  std::string dropped_because;             ///< gpu::throttling_in() of the dropped samples; empty if there are none
  std::optional<double> bytes_per_second;  ///< empty in the block scope, where time is not spent on traffic
  std::optional<double> of_copy;
  std::optional<double> speedup;                      ///< relative to CaseStudy::baseline
  std::optional<Limits> limits;                       ///< empty: the kernels were not emulated, or not for this device
  Scaling scaling;                                    ///< on several ranks
  std::optional<CounterResult> counters;              ///< if requested
  const banks::Architecture* architecture = nullptr;  ///< the bank model's GPU
};

struct RankInfo {
  std::string host, device;
  std::uint64_t input_words = 0;
};

/// What the ranks have in common.
struct RanksInfo {
  std::string engine, mpi;
  std::string topology;  ///< how the ranks' devices reach each other
  std::vector<RankInfo> ranks;
};

/// Everything about one run.
struct RunResults {
  const CaseStudy* study = nullptr;
  std::vector<std::string> command;
  std::vector<gpu::DeviceInfo> devices;  ///< on several ranks: rank 0's
  std::vector<Result> results;
  std::vector<VariantLevels> levels;  ///< for each architecture that a device is assumed to have; empty: not requested
  std::optional<RanksInfo> ranks;     ///< empty: one process
  std::string comparison;             ///< with an earlier run, as text

  bool has_counters() const {
    return std::ranges::any_of(results, [](const Result& result) { return result.counters.has_value(); });
  }
};

/// A row faster than this fraction of copy probably measures a cache instead of memory.
inline constexpr double suspicious_of_copy = 1.05;

}  // namespace bankwise::study
