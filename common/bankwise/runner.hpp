// SPDX-License-Identifier: MIT
#pragma once

#include <bankwise/bench/program.hpp>

namespace bankwise {

/// What run() runs; with another Program::open, for tests.
Program case_study_program();

}  // namespace bankwise
