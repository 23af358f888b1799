// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>
#include <bankwise/emulator/cuda/cooperative_copies.hpp>
