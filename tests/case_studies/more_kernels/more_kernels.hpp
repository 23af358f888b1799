// SPDX-License-Identifier: MIT
#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise::more_kernels {

/// Kernels as they stand in other projects, to hold the emulator against hardware counters. Every block works on a
/// slice of its own: an extent of width 1 is one block.
const CaseStudy& case_study();

}  // namespace bankwise::more_kernels
