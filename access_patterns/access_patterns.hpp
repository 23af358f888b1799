#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <bankwise/banks/cost.hpp>
#include <bankwise/study/case_study.hpp>
#include <bankwise/study/result.hpp>

namespace bankwise::access_patterns {

/// The access patterns as variants, with kernels, plans and references. The extent's width is the number of iterations.
/// The plan's first scratch buffer receives the clock cycles of all accesses, 64 bits; 0 if the API has no clock.
const study::CaseStudy& case_study();

/// The access that the kernel of a pattern repeats.
struct RepeatedAccess {
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;                    ///< bytes per lane
  std::uint64_t mask = 0;                ///< active lanes of a warp
  std::vector<std::uint32_t> addresses;  ///< byte offset of each lane, `banks::max_lanes` of them
  std::uint64_t count = 0;               ///< accesses of all warps of the block
};
RepeatedAccess repeated_access(const study::Variant& variant, study::Extent extent);

// The bank model compared with measured clock cycles, access pattern by access pattern, and reports of both.

/// One access pattern: cost by the bank model, and measured clock cycles.
struct AccessResult {
  std::string pattern;       ///< the variant's description
  std::string architecture;  ///< the model's GPU
  banks::Operation operation = banks::Operation::load;
  unsigned width = 4;                    ///< bytes per lane
  std::uint64_t count = 0;               ///< accesses per launch
  std::optional<banks::Cost> cost;       ///< empty: the model has no rule; `refusal` says why
  std::optional<banks::Cost> on_device;  ///< on the measured GPU; empty if the model does not know it
  std::string refusal;
  std::optional<double> clocks;  ///< measured, per access
  std::string clocks_from;       ///< the source of `clocks`, or why there are none
};

/// One access pattern on one device.
struct Row {
  study::Result result;
  AccessResult access;
  std::vector<double> counted;  ///< clock cycles that the kernel counted, per sample; 0 without a clock
};

/// A variant's access and its cost on `wanted`; if that is null, on the device's own architecture, or sm_90 if unknown.
AccessResult access_of(const study::Variant& variant, study::Extent extent, const gpu::DeviceInfo& device,
                       const banks::Architecture* wanted);

/// Clock cycles per access that the model expects: max(passes, floor). Empty if the model has no rule.
std::optional<double> expected_clocks(const AccessResult& access);

/// Passes computed from measured clocks: an exact number above the floor, an upper bound at the floor.
struct MeasuredPasses {
  unsigned passes = 0;
  bool at_most = false;
};
std::optional<MeasuredPasses> measured_passes(const AccessResult& access);

/// Computes the clocks per access of each row: from the cycles that its kernel counted, otherwise from its time
/// relative to the first conflict-free row. The model for the measured device gives the clocks of that row, even if
/// the user asked for the passes of another architecture.
void derive_clocks(std::vector<Row>& rows);

/// Counter values that the model expects. The emulator runs two iterations; the second one represents all later ones.
study::JobModel model_of_turns(const study::Variant& variant, study::Extent extent,
                               const banks::Architecture& architecture);

/// Whether the device has banks to measure. A CPU has none: its rows are verified but not timed.
bool has_banks(const gpu::DeviceInfo& device);

/// The text report: one table per device.
std::string text_report(const study::RunResults& run, const std::vector<Row>& rows);

/// The JSON report of a case study, with an additional `access` per result. `rows` has the order of report.results.
std::string json_report(const study::RunResults& run, const std::vector<Row>& rows);

/// A head line, then one line per pattern.
std::string csv_report(const study::RunResults& run, const std::vector<Row>& rows);

}  // namespace bankwise::access_patterns
