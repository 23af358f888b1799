// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>
#include <bankwise/emulator/cuda/copies.hpp>
