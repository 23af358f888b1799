// SPDX-License-Identifier: MIT
//
// Whole jobs of a case study on the CPU.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <bankwise/emulator/kernel.hpp>
#include "tests/case_studies.hpp"
#include "tests/case_studies/more_kernels/more_kernels.hpp"

/// Those of the repository, and the kernels that the emulator is compared with a GPU on.
inline std::vector<const bankwise::CaseStudy*> emulated_case_studies() {
  std::vector<const bankwise::CaseStudy*> studies(std::begin(all_case_studies), std::end(all_case_studies));
  studies.push_back(&bankwise::more_kernels::case_study());
  return studies;
}

struct EmulatedJob {
  bankwise::Words output;
  std::vector<bankwise::emulator::Trace> traces;  ///< of each launch
};

/// Compute units of the device that plans are made for: few, so that blocks that stay take several tiles.
inline constexpr unsigned emulated_units = 2;

/// Kernels to run in place of others, by the others' names.
using Instead = std::map<std::string, const bankwise::emulator::Kernel*>;

/// Why a variant cannot run here: what a kernel of its plan says in its file. Empty: it can.
std::string why_not_emulated(const bankwise::CaseStudy& study, const bankwise::Variant& variant);

/// Runs every launch of a plan, whole. Scratch memory and output hold 0xCDCDCDCD before. `how` says what is traced,
/// unless `trace_all` blocks.
EmulatedJob emulate_job(const bankwise::CaseStudy& study, const bankwise::Variant& variant, bankwise::Extent extent,
                        const bankwise::Words& input, bankwise::emulator::Launch how = {}, const Instead& instead = {},
                        bool trace_all = false);
