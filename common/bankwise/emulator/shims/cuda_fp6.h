// SPDX-License-Identifier: MIT
//
// Numbers of 4 and 6 bits are not emulated.
#include <cuda_runtime.h>
