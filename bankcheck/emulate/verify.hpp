// SPDX-License-Identifier: MIT
//
// Proof by doing: what --fit proposes, applied to a copy of the program's sources, built and run again.
#pragma once

#include "bankcheck/driver/reporting.hpp"
#include "bankcheck/emulate/build.hpp"
#include "bankcheck/emulate/emulated_run.hpp"

namespace bankwise::emulate {

/// Builds and runs the changed program, and prints for each changed kernel the predicted and the observed passes.
/// `folder`: where the copies go, new or empty; "" for a temporary folder. Returns exit_ok if all are equal and the
/// program ends well; exit_wrong otherwise. Errors: as build() and run_emulated().
int verify(const driver::Reporting& reporting, const Program& program, EmulatedRun run,
           const std::filesystem::path& cache, const std::string& folder);

}  // namespace bankwise::emulate
