// SPDX-License-Identifier: MIT
//
// Numbers of 6 bits are not emulated: their types are only declared.
#pragma once

#include <cuda_runtime.h>

namespace bankwise::cuda {

struct __nv_fp6_e2m3;
struct __nv_fp6_e3m2;

}  // namespace bankwise::cuda
