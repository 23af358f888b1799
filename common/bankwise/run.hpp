// SPDX-License-Identifier: MIT
#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise {

/// The main program of a case study: reads the command line, runs, reports. Returns the exit code
/// (support/exit_code.hpp).
int run(const CaseStudy& study, int argc, const char* const* argv);

}  // namespace bankwise
