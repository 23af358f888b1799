// SPDX-License-Identifier: MIT
//
// What the lanes of a variant do between two barriers: its CUDA kernels, emulated, on the bank model.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/emulator/launch.hpp>
#include <bankwise/study/case_study.hpp>
#include <bankwise/trace/report.hpp>

namespace bankwise {

/// A kernel that touches shared memory, of which one block was emulated.
struct KernelLevels {
  std::string name;
  emulator::Trace trace;
  trace::Report report;
  std::vector<std::string> level_names;  ///< one for each level of the report
};

/// Those of a variant's kernels, with a number for each that can be known.
struct VariantLevels {
  std::string_view variant;
  const banks::Architecture* architecture = nullptr;
  gpu::GroupShape group;
  std::vector<KernelLevels> kernels;  ///< in the order of the plan
  // Over all of them, one block each.
  std::optional<double> alu_utilization;  ///< empty where shared memory is not accessed
  std::optional<double> simt_efficiency;
  std::optional<banks::Tally> costs;  ///< empty where the model lacks one, or nothing was emulated
  std::string reason;                 ///< a sentence, where `costs` is empty
};

/// The architecture of the bank model: the wanted one, else the device's own if the model knows it, else sm_90.
const banks::Architecture& model_architecture(const banks::Architecture* wanted, std::string_view own);

/// Emulates block 0 of each kernel in the variants' plans, launched as for `extent`. No memory is taken but
/// what that block touches. Whatever goes wrong with a variant becomes its reason.
std::vector<VariantLevels> levels_of(const CaseStudy& study, std::span<const Variant* const> variants, Extent extent,
                                     const banks::Architecture& architecture);

/// Empty if the model lacks the cost of one of the accesses: the sums would be too small.
std::optional<banks::Tally> known(const banks::Tally& costs);

}  // namespace bankwise
