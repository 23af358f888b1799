// SPDX-License-Identifier: MIT
#pragma once

#include <bankwise/bench/program.hpp>

namespace bankwise {

/// The program that run() runs; tests replace its MainProgram::open.
MainProgram case_study_program();

}  // namespace bankwise
