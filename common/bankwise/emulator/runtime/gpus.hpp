// SPDX-License-Identifier: MIT
#pragma once

#include <bankwise/banks/multiprocessor.hpp>

namespace bankwise::emulator::runtime {

/// Set before main() in a program that launches cooperative kernels.
extern bool few_multiprocessors;
/// The GPU that this program runs on: that of the request, or of sm_90 where the table of architectures knows
/// none; with 8 multiprocessors if few_multiprocessors.
const banks::GpuModel& this_gpu();

}  // namespace bankwise::emulator::runtime
