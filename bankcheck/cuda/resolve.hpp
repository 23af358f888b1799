// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <bankwise/trace/trace.hpp>
#include "bankcheck/cuda/record.hpp"

namespace bankwise::cuda {

/// Turns what was recorded, by program counter, into a trace by source line. Kernels of one name are one kernel,
/// whichever process launched them. An instruction without line information is a site by its offset. Accesses that the
/// bank model has no operation for (remote shared memory, an atomic of unknown opcode), bulk copies, TMA and wgmma are
/// left out and counted. Copies that may fill lanes with zeros are counted, too, because their cost is a lower bound. A
/// cubin that cannot be read, a record that is cut short and errors of the library are errors of the trace.
struct Resolved {
  trace::Trace trace;
  std::vector<std::string> left_out;  ///< what the trace lacks, and which costs are too low: a sentence each
};
Resolved resolve(const std::vector<Record>& records);

}  // namespace bankwise::cuda
