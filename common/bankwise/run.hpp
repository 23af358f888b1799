#pragma once

#include <bankwise/study/case_study.hpp>

namespace bankwise {
namespace bench {
struct MainProgram;
}

/// The main program of a case study: reads the command line, runs, reports. Returns the exit code
/// (support/exit_code.hpp).
int run(const study::CaseStudy& study, int argc, const char* const* argv);

/// The program that run() runs; tests replace its MainProgram::open.
bench::MainProgram case_study_program();

}  // namespace bankwise
