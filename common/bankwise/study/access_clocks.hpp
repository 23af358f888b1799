// SPDX-License-Identifier: MIT
//
// Case studies of single accesses: the bank model beside the clock.
#pragma once

#include <string>
#include <vector>

#include <bankwise/study/case_study.hpp>
#include <bankwise/study/result.hpp>

namespace bankwise {

/// A variant's access and its cost on the architecture of the model. `wanted` null: the device's own if the model knows
/// it, else sm_90.
AccessResult access_of(const CaseStudy& study, const Variant& variant, Extent extent, const gpu::DeviceInfo& device,
                       const banks::Architecture* wanted);

/// Clocks that the model expects: the passes, or the floor where that is more. Empty where it has no answer.
std::optional<double> expected_clocks(const AccessResult& access);

/// Passes that measured clocks mean: so many, or, where that is no more than the floor, at most so many.
struct MeasuredPasses {
  unsigned passes = 0;
  bool at_most = false;
};
std::optional<MeasuredPasses> measured_passes(const AccessResult& access);

/// Gives each result its clocks per access. `counted` holds, result by result, the clocks of its samples as the kernel
/// counted them, or zeros: then times are divided by the time of a row without conflict, whose clocks are taken to be
/// those of the model for the device, whatever architecture the model was asked for.
void derive_clocks(std::vector<Result>& results, const std::vector<std::vector<double>>& counted);

}  // namespace bankwise
