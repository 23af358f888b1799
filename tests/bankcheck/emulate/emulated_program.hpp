// Whole programs, as a user checks them. Each is compiled once for all tests, in a cache in the build folder.
#pragma once

#include "tests/bankcheck/checked_report.hpp"
#include "tests/bankcheck/started_program.hpp"
#include "tests/catch_any.hpp"

/// A program of tests/bankcheck/emulate/programs.
inline std::string source(const std::string& name) { return "'" PROGRAMS "/" + name + ".cu'"; }

inline Outcome emulate(const std::string& arguments, const std::string& before = "") {
  INFO(arguments);
  return bankcheck("emulate --cache '" CACHE "' " + arguments, before);
}
