// SPDX-License-Identifier: MIT
#include <bankwise/emulator/cuda.hpp>
#include <bankwise/emulator/cuda/cooperative_algorithms.hpp>
