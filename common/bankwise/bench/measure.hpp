// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string_view>

#include <bankwise/bench/options.hpp>
#include <bankwise/bench/workbench.hpp>
#include <bankwise/gpu/session.hpp>
#include <bankwise/gpu/throttle.hpp>
#include <bankwise/study/result.hpp>

namespace bankwise::bench {

/// What measure() may be told beyond the options.
struct Manner {
  bool copy = true;    ///< whether to measure a copy of memory, the reference of the other rows
  bool timing = true;  ///< false: only verify each variant
  /// Called after each sample of a variant, when the device is idle.
  std::function<void(Workbench&, const PreparedVariant&)> after_sample;
  /// Called now and then with the progress, from 0 to 1, and the current activity.
  std::function<void(double done, std::string_view activity)> on_progress = [](double, std::string_view) {};
  /// Drops and counts the samples during which it reports throttling. Null: throttling is unknown, all samples count.
  gpu::Throttle* throttle = nullptr;
  Cluster cluster;
};

/// Runs the selected variants of `study`: verifies, measures in interleaved rounds, verifies again. Returns one result
/// per variant, in the order of the table of contents, copy first (unless --profile or `manner` leaves it out). A
/// variant that fails is a result with its reason. A failure that affects all variants is thrown: gpu::Error,
/// std::bad_alloc.
///
/// On several ranks the variants are RankStudy's, and the times of the exchanges and of the launches of a plan with
/// both are measured separately, too. All ranks call it, and return the same results: the rows copy, peer_copy and
/// alone, then the variants. A variant that all ranks refuse is a result with its reason. Any other failure ends all
/// ranks, with one sentence on stderr and exit code 3. Error: cluster::Refused if the shares are too large.
std::vector<Result> measure(const CaseStudy& study, const Options& options, Extent extent, gpu::Session& session,
                            const Manner& manner = {});

}  // namespace bankwise::bench
