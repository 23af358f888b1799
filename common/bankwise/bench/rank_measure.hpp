// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <bankwise/bench/options.hpp>
#include <bankwise/bench/rank_bench.hpp>
#include <bankwise/gpu/throttle.hpp>
#include <bankwise/study/rank_result.hpp>

namespace bankwise {

/// Runs the selected variants on all ranks: verifies, measures in interleaved rounds, times the exchanges and the
/// launches of plans with both separately, and verifies again. All ranks call it, and return the same results: the
/// rows copy, peer_copy and alone, then the variants in the order of their table. A variant that all ranks refuse is a
/// result with its reason. Any other failure ends all ranks, with one sentence on stderr and exit code 3. Error:
/// cluster::Refused if the shares are too large.
std::vector<RankResult> measure_ranks(const CaseStudy& study, const Options& options, Extent extent,
                                      gpu::Session& session, Cluster cluster, gpu::Throttle* throttle);

}  // namespace bankwise
