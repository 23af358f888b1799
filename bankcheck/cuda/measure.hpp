#pragma once

#include <string>
#include <vector>

#include "bankcheck/cuda/runs.hpp"
#include "bankcheck/cuda/tree_copy.hpp"
#include "bankcheck/driver/measure.hpp"

namespace bankwise::cuda {

/// A program that the user can build in a copy of its sources.
struct BuiltProgram {
  SourceTree tree;
  std::string build;                 ///< a shell command
  std::vector<std::string> command;  ///< the program and its arguments
  Watching watching;
  Timer timer;
};

/// driver::measure() with versions that are built in copies of the tree. Errors: those, and those of copy_tree().
int measure_copies(driver::Reporting& reporting, const trace::Trace& trace, const driver::MeasureOptions& options,
                   const BuiltProgram& program);

}  // namespace bankwise::cuda
