// SPDX-License-Identifier: MIT
//
// The results of a run on several ranks, before they are printed. Only rank 0 has them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bankwise/gpu/device.hpp>
#include <bankwise/study/rank_study.hpp>
#include <bankwise/study/result.hpp>

namespace bankwise {

/// The rows that are not variants: a copy within each device's memory; a copy into the memory of the next rank's
/// device; and RankStudy::alone, which solves each rank's share as a separate problem.
inline constexpr std::string_view peer_copy_row = "peer_copy", alone_row = "alone";

/// One variant on all ranks. Times in seconds: from a common start to the end on the slowest rank. Bytes of the rank
/// with the most.
struct RankResult {
  std::string variant;
  std::string alone;  ///< of the row `alone`: the case study's variant
  Status status = Status::skipped;
  std::string reason;              ///< one line, for every status except ok
  std::uint64_t memory_bytes = 0;  ///< that the device must read and write in its own memory
  std::uint64_t link_bytes = 0;    ///< that must leave the rank
  Timing timing;
  /// The shortest time that the measured copies allow: the longer of the memory's and the link's.
  std::optional<double> floor_s;
  std::optional<double> of_floor;     ///< floor_s / timing.median
  std::optional<double> weak;         ///< weak scaling: the time of `alone` / timing.median
  std::optional<double> exchanges_s;  ///< of plans with exchanges: the time of these alone,
  std::optional<double> launches_s;   ///< and of the launches alone
  std::optional<double> exchanging;   ///< the exchanges' share of the time: 1 - launches_s / timing.median
};

struct RankInfo {
  std::string host, device;
  std::uint64_t input_words = 0;
};

struct RankReport {
  const CaseStudy* study = nullptr;
  std::vector<std::string> command;
  Extent extent;  ///< of the whole problem
  Cache cache = Cache::cold;
  gpu::DeviceInfo device;  ///< rank 0's
  std::string engine, mpi;
  std::string topology;  ///< how the ranks' devices reach each other
  std::vector<RankInfo> ranks;
  std::vector<RankResult> results;
};

}  // namespace bankwise
