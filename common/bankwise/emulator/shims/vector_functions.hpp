// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>
