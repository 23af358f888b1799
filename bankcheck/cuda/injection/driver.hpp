// SPDX-License-Identifier: MIT
//
// The few functions of the CUDA driver that are called: of the driver that the process has loaded, never another one.
#pragma once

#include <cuda.h>

#include <string>

namespace bankwise::cuda {

/// What the record says of a device. Zeros and "unknown" if the driver does not tell.
struct DeviceFacts {
  int major = 0, minor = 0;  ///< compute capability
  std::string name = "unknown";
};

/// Reads constants of the driver, so it may be called in a callback of the Sanitizer library.
DeviceFacts device_facts(int device);

/// Waits for all work of the context. Empty, or a sentence if a kernel failed. Not for callbacks: the Sanitizer library
/// does not support calls of the driver there (its guide, "Callback API").
std::string wait_for_context(CUcontext context);

}  // namespace bankwise::cuda
