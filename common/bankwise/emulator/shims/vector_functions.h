// SPDX-License-Identifier: MIT
#include <bankwise/emulator/cuda.hpp>
