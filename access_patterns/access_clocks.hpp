// SPDX-License-Identifier: MIT
//
// The bank model beside the clock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <bankwise/banks/cost.hpp>
#include <bankwise/study/case_study.hpp>
#include <bankwise/study/counter_result.hpp>
#include <bankwise/study/result.hpp>

namespace bankwise::access_patterns {

/// One access: what the model says, and the clock.
struct AccessResult {
  std::string pattern;       ///< the variant's idea
  std::string architecture;  ///< of the model
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;                    ///< bytes per lane
  std::uint64_t count = 0;               ///< accesses in a run
  std::optional<banks::Cost> cost;       ///< empty: the model has no answer, and `refusal` says why
  std::optional<banks::Cost> on_device;  ///< on the architecture that is measured; empty if the model does not know it
  std::string refusal;
  std::optional<double> clocks;  ///< measured, per access
  std::string clocks_from;       ///< where they come from, or why there are none
};

/// A pattern on a device.
struct Row {
  Result result;
  AccessResult access;
  std::vector<double> counted;  ///< clocks of each sample as the kernel counted them, or zeros
};

/// A variant's access and its cost on the architecture of the model. `wanted` null: the device's own if the model knows
/// it, else sm_90.
AccessResult access_of(const Variant& variant, Extent extent, const gpu::DeviceInfo& device,
                       const banks::Architecture* wanted);

/// Clocks that the model expects: the passes, or the floor where that is more. Empty where it has no answer.
std::optional<double> expected_clocks(const AccessResult& access);

/// Passes that measured clocks mean: so many, or, where that is no more than the floor, at most so many.
struct MeasuredPasses {
  unsigned passes = 0;
  bool at_most = false;
};
std::optional<MeasuredPasses> measured_passes(const AccessResult& access);

/// Gives each row its clocks per access: what its kernel counted, else its time divided by the time of a row without
/// conflict, whose clocks are taken to be those of the model for the device, whatever architecture the model was asked
/// for.
void derive_clocks(std::vector<Row>& rows);

/// What the model expects the hardware to count. Two turns are emulated, and the second stands for all that follow.
JobModel model_of_turns(const Variant& variant, Extent extent, const banks::Architecture& architecture);

}  // namespace bankwise::access_patterns
