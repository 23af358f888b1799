// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/trace/trace.hpp>
#include "bankcheck/cuda/record.hpp"

namespace bankwise::cuda {

struct Resolved {
  trace::Trace trace;
  std::vector<std::string> left_out;  ///< what the trace lacks, and which costs are too low: a sentence each
};

/// Turns what was recorded, by program counter, into a trace by source line. Kernels of one name are one kernel,
/// whichever process launched them. An instruction without line information is a site by its offset. Accesses that the
/// bank model has no operation for (remote shared memory, an atomic of unknown opcode), bulk copies, TMA and wgmma are
/// left out and counted. A cubin that cannot be read, a record that is cut short and errors of the library are errors
/// of the trace. Patterns beyond the bound of trace::Builder are costed on `architectures`. Accesses that the GPU has
/// costed are excess on its own architecture, and on those of `architectures` that have the same rule.
Resolved resolve(const std::vector<Record>& records, const std::vector<const banks::Architecture*>& architectures);

/// The architecture of a GPU; null if the bank model does not know it.
const banks::Architecture* architecture_of(const Device& device);

}  // namespace bankwise::cuda
