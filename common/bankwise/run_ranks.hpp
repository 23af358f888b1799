// SPDX-License-Identifier: MIT
#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise {

/// run() as one of several ranks, which a launcher such as mpirun has started: rank 0 reports. The exit code is the
/// same on all ranks. A failure of one rank is one line on stderr, and ends the others.
int run_ranks(const CaseStudy& study, int argc, const char* const* argv);

}  // namespace bankwise
