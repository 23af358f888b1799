#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise::more_kernels {

/// Kernels typical of other projects, to compare the emulator with hardware counters. Every block processes a separate
/// slice: an extent of width 1 is one block.
const study::CaseStudy& case_study();

}  // namespace bankwise::more_kernels
