// Runs a program under `bankcheck opencl`, as a user does, and reads its report.
#pragma once

#include "tests/bankcheck/checked_report.hpp"

/// As check_with().
inline Checked check(const std::string& command, const std::string& options = "", const std::string& before = "") {
  return check_with("opencl", command, options, before);
}

/// A program of tests/bankcheck/opencl/programs.
inline std::string program(const std::string& name) { return "'" PROGRAMS "/" + name + "'"; }
