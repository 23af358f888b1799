// SPDX-License-Identifier: MIT
//
// The CUDA kernel of docs/checking_your_kernel.md with tiles of 16, in the emulator.
#pragma once

#include <bankwise/trace/trace.hpp>

/// All accesses of its launch, with the sizes of the OpenCL example's program. Alone in its source: code for the
/// emulator takes long to compile.
bankwise::trace::KernelTrace example_trace(unsigned warp);
