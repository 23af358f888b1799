// SPDX-License-Identifier: MIT
//
// What a device counted in a whole job, and what the model expects there.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/gpu/counters.hpp>
#include <bankwise/study/case_study.hpp>
#include <bankwise/trace/report.hpp>

namespace bankwise {

/// All launches of a job, if every block of a launch did what its block 0 does: exact where all tiles are full.
struct JobModel {
  const banks::Architecture* architecture = nullptr;
  std::optional<banks::Tally> loads, stores, atomics;  ///< empty where the model lacks the cost of an access
  std::optional<double> simt_efficiency;  ///< of the instructions that g++ makes of the kernel, not of the GPU's
  std::string reason;                     ///< a sentence, where something is empty
};

/// Emulates block 0 of each launch in the plan of a device with `units` compute units. Whatever goes wrong becomes the
/// reason.
JobModel job_model(const CaseStudy& study, const Variant& variant, Extent extent, unsigned units,
                   const banks::Architecture& architecture);

/// One run of the whole job, as it is written: in the block scope, too, without repeated sections.
struct CounterResult {
  std::optional<gpu::Counters> counted;
  std::string reason;             ///< why not, and what to do about it
  std::optional<JobModel> model;  ///< empty where there is nothing to emulate, or nothing to compare it with
};

/// A counter of shared memory and what the model has in its place.
struct CounterNumber {
  std::string_view key;  ///< in JSON
  gpu::Counters::Count counted, model;
  /// Counted minus model.
  std::optional<std::int64_t> difference() const;
};
std::array<CounterNumber, 6> shared_memory_numbers(const CounterResult& result);

/// Passes counted ÷ those that the same accesses take without a conflict.
std::optional<double> counted_over_ideal(const gpu::Counters& counters);

}  // namespace bankwise
