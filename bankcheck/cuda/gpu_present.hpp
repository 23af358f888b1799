// SPDX-License-Identifier: MIT
//
// Whether this machine has a GPU for CUDA programs, asked before a program is started that would only fail.
#pragma once

#include <stdexcept>

namespace bankwise::cuda {

/// The machine has no NVIDIA GPU, or no driver for one; what() is one sentence.
class NoGpu : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns if the CUDA driver (libcuda.so.1) has a device; CUDA_VISIBLE_DEVICES may hide all of them. A child process
/// asks, so this one keeps no CUDA state. Errors: NoGpu; std::runtime_error if the driver fails in another way.
void check_gpu_present();

}  // namespace bankwise::cuda
