// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string_view>

#include <bankwise/bench/options.hpp>
#include <bankwise/bench/workbench.hpp>
#include <bankwise/gpu/session.hpp>
#include <bankwise/gpu/throttle.hpp>
#include <bankwise/study/result.hpp>

namespace bankwise {

/// Called now and then with the progress, from 0 to 1, and the current activity.
using Progress = std::function<void(double done, std::string_view what)>;

/// What a benchmark may configure that a case study does not.
struct Manner {
  bool copy = true;    ///< whether to measure a copy of memory, the reference of the other rows
  bool timing = true;  ///< false: only verify each variant
  /// Called after each sample of a variant, when the device is idle.
  std::function<void(Workbench&, const PreparedVariant&)> after_sample;
};

/// Runs the selected variants of `study` on one device: verifies, measures in interleaved rounds, verifies again.
/// Returns one result per variant, in the order of the table of contents, copy first (unless --profile or `manner`
/// leaves it out). A variant that fails is a result with its reason. A failure that affects all variants is thrown:
/// gpu::Error, std::bad_alloc. Samples during which `throttle` reports throttling are dropped and counted; if it is
/// null, throttling is unknown and all samples count.
std::vector<Result> measure(const CaseStudy& study, const Options& options, Extent extent, gpu::Session& session,
                            const Progress& progress, gpu::Throttle* throttle = nullptr, const Manner& manner = {});

}  // namespace bankwise
