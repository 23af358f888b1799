// SPDX-License-Identifier: MIT
//
// What nvcc makes of a program's kernels: evidence for one of the report's two counts.
#pragma once

#include <filesystem>
#include <vector>

#include "bankcheck/emulate/build.hpp"

namespace bankwise::emulate {

/// nvcc on the PATH, or in the CUDA Toolkit that CUDA_HOME or CUDA_PATH names, or in /usr/local/cuda; empty if there is
/// none.
std::filesystem::path find_nvcc();

/// Compiles each .cu of a program for its compute capability, with its source lines; from the cache if nothing has
/// changed. Errors: BuildFailed; std::runtime_error.
std::vector<std::filesystem::path> cubins_of(const Program& program, const std::filesystem::path& nvcc,
                                             const std::filesystem::path& cache);

}  // namespace bankwise::emulate
