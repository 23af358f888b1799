// Whole jobs of a case study on the CPU.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <bankwise/emulator/core/emulate.hpp>
#include "tests/case_studies.hpp"

struct EmulatedJob {
  std::vector<bankwise::study::Words> outputs;
  std::vector<bankwise::trace::KernelTrace> traces;  ///< of each launch
};

/// Compute units in the plans: few, so each persistent block processes several tiles.
inline constexpr unsigned emulated_units = 2;

/// Replacement kernels, keyed by the names of the kernels that they replace.
using Instead = std::map<std::string, const bankwise::emulator::NamedKernel*>;

/// Why a variant cannot run in the emulator, from the file of a kernel of its plan. Empty: it can.
std::string why_not_emulated(const bankwise::study::CaseStudy& study, const bankwise::study::Variant& variant);

/// Runs every launch of a plan completely. Scratch memory and outputs hold 0xCDCDCDCD before. `how` selects what is
/// traced, unless `trace_all` traces all blocks.
EmulatedJob emulate_job(const bankwise::study::CaseStudy& study, const bankwise::study::Variant& variant,
                        bankwise::study::Extent extent, const std::vector<bankwise::study::Words>& inputs,
                        bankwise::emulator::Launch how = {}, const Instead& instead = {}, bool trace_all = false);
