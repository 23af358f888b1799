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

/// Called now and then: how far along (0 to 1), and with what.
using Progress = std::function<void(double done, std::string_view what)>;

/// What a benchmark may want otherwise than a case study does.
struct Manner {
  bool copy = true;    ///< with a row that copies memory, the measure of the others
  bool timing = true;  ///< false: each variant is verified, and that is all
  /// Called after each sample of a variant, when the device is idle.
  std::function<void(Workbench&, const PreparedVariant&)> after_sample;
};

/// Runs the wanted variants of `study` on one device: verifies, measures in turns, verifies again. One result a
/// variant, in the order of the table of contents, copy first (unless --profile or `manner` leaves it out). A variant that
/// fails is a result with its reason; what fails for all of them is thrown: gpu::Error, std::bad_alloc. Samples that
/// `throttle` says the device throttled in are dropped and counted; null: nobody knows, and all of them count.
std::vector<Result> measure(const CaseStudy& study, const Options& options, Extent extent, gpu::Session& session,
                            const Progress& progress, gpu::Throttle* throttle = nullptr, const Manner& manner = {});

}  // namespace bankwise
