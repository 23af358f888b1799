// SPDX-License-Identifier: MIT
//
// Numbers of 4 bits are not emulated: their types are only declared.
#pragma once

#include <cuda_runtime.h>

namespace bankwise::cuda {

struct __nv_fp4_e2m1;

}  // namespace bankwise::cuda
