// SPDX-License-Identifier: MIT
//
// A plan's launches on the CPU: block 0 of each.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <bankwise/emulator/core/emulate.hpp>
#include <bankwise/study/case_study.hpp>

namespace bankwise::study {

/// The memory that a plan's launches refer to. Only pages that are touched take memory, so a buffer may be larger than
/// the machine's memory. Each input begins with its real words; the rest reads as zeros, so a kernel whose
/// shared-memory addresses depend on data sees zeros there. Error: std::runtime_error.
class EmulatedMemory {
 public:
  EmulatedMemory(const CaseStudy& study, Extent extent, const Plan& plan);
  std::vector<emulator::Argument> arguments_of(const KernelLaunch& launch) const;

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(void* memory) const;
  };
  using Memory = std::unique_ptr<void, Unmap>;
  static Memory reserve(std::uint64_t bytes);

  std::map<Slot, Memory> memory_;
};

/// The plan of a variant for the emulator. Error: std::runtime_error for a library, which has no kernel to emulate.
Plan plan_to_emulate(const CaseStudy& study, const Variant& variant, Extent extent, unsigned units);

/// Runs block 0 of a launch, in warps of `warp` lanes; `record_order` as in emulator::Launch. Error: any fault that the
/// emulator finds, as an exception with a sentence.
trace::KernelTrace trace_of(const CaseStudy& study, const KernelLaunch& launch, const EmulatedMemory& memory,
                            unsigned warp, bool record_order);

}  // namespace bankwise::study
