// SPDX-License-Identifier: MIT
//
// A plan's launches on the CPU: block 0 of each.
#pragma once

#include <memory>
#include <vector>

#include <bankwise/emulator/kernel.hpp>
#include <bankwise/study/case_study.hpp>

namespace bankwise {

/// The memory that a plan's launches refer to. None is taken but what is touched, so a buffer may be larger than the
/// machine. It begins with the real input; the rest reads as zeros, and a kernel whose addresses in shared memory
/// depend on data has to be content with that. Error: std::runtime_error.
class EmulatedMemory {
 public:
  EmulatedMemory(const CaseStudy& study, Extent extent, const Plan& plan);
  std::vector<emulator::Argument> arguments_of(const Launch& launch) const;

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(void* memory) const;
  };
  using Memory = std::unique_ptr<void, Unmap>;
  static Memory reserve(std::uint64_t bytes);

  std::vector<Memory> memory_;
  Memory state_;
};

/// What a variant launches, as far as there is something to emulate. Error: std::runtime_error for a library.
Plan plan_to_emulate(const CaseStudy& study, const Variant& variant, Extent extent, unsigned units);

/// Runs block 0 of a launch, in warps of `warp` lanes; `record_order` as in emulator::Launch. Error: whatever the
/// emulator finds wrong, as an exception with a sentence.
emulator::Trace trace_of(const CaseStudy& study, const Launch& launch, const EmulatedMemory& memory, unsigned warp,
                         bool record_order);

}  // namespace bankwise
