// SPDX-License-Identifier: MIT
//
// The hardware counters of a whole job, and the model's prediction for it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/gpu/counters.hpp>
#include <bankwise/study/case_study.hpp>
#include <bankwise/trace/report.hpp>

namespace bankwise::study {

/// All launches of a job, assuming that every block of a launch behaves like its block 0: exact if all tiles are full.
struct JobModel {
  const banks::Architecture* architecture = nullptr;
  std::optional<banks::Tally> loads, stores, atomics;  ///< empty where the model lacks the cost of an access
  std::optional<double> simt_efficiency;               ///< for g++'s instructions of the kernel, not for the GPU's
  std::string reason;                                  ///< one sentence, if something is empty
};

/// Emulates block 0 of each launch in the plan for a device with `units` compute units. Any failure becomes the reason.
JobModel job_model(const CaseStudy& study, const Variant& variant, Extent extent, unsigned units,
                   const banks::Architecture& architecture);

/// One run of the whole job, without repeated sections, in the block scope, too.
struct CounterResult {
  std::optional<gpu::Counters> counted;
  std::string reason;             ///< why there are no counters, and what to do about it
  std::optional<JobModel> model;  ///< empty if there is nothing to emulate, or nothing to compare it with
};

/// A counter of shared memory and the model's number for it.
struct CounterNumber {
  std::string_view key;  ///< in JSON
  gpu::Counters::Count counted, model;
  /// Counted minus model.
  std::optional<std::int64_t> difference() const;
};
std::array<CounterNumber, 6> shared_memory_numbers(const CounterResult& result);

/// Active lanes ÷ all lanes, over the instructions of all warps. Empty if nothing was executed, or nothing counted.
std::optional<double> simt_efficiency(const gpu::Counters& counters);

/// Counted passes ÷ the passes that the same accesses take without conflicts.
std::optional<double> counted_over_ideal(const gpu::Counters& counters);

}  // namespace bankwise::study
