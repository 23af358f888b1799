// SPDX-License-Identifier: MIT
#include <bankwise/emulator/cuda.hpp>
#include <bankwise/emulator/cuda/bfloat16.hpp>
