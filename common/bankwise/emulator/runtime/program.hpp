// SPDX-License-Identifier: MIT
//
// CUDA for a whole program in the emulator: `bankcheck emulate` includes this header before the first line of each
// source, as nvcc includes <cuda_runtime.h>. Compiles as C++17 and later.
#pragma once

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <new>

#include <bankwise/emulator/cuda/atomics.hpp>
#include <bankwise/emulator/cuda/cooperative_groups.hpp>
#include <bankwise/emulator/cuda/indices.hpp>
#include <bankwise/emulator/cuda/legacy_warp.hpp>
#include <bankwise/emulator/cuda/math.hpp>
#include <bankwise/emulator/cuda/memory.hpp>
#include <bankwise/emulator/cuda/missing.hpp>
#include <bankwise/emulator/cuda/ptx.hpp>
#include <bankwise/emulator/cuda/qualifiers.hpp>
#include <bankwise/emulator/cuda/simd.hpp>
#include <bankwise/emulator/cuda/special_functions.hpp>
#include <bankwise/emulator/cuda/synchronization.hpp>
#include <bankwise/emulator/cuda/vector_types.hpp>
#include <bankwise/emulator/cuda/warp.hpp>
#include <bankwise/emulator/runtime/index_variables.hpp>  // undefines macros

#include <bankwise/emulator/runtime/arrays.hpp>
#include <bankwise/emulator/runtime/device.hpp>
#include <bankwise/emulator/runtime/errors.hpp>
#include <bankwise/emulator/runtime/launching.hpp>
#include <bankwise/emulator/runtime/memory.hpp>
#include <bankwise/emulator/runtime/streams.hpp>
#include <bankwise/emulator/runtime/textures.hpp>
#include <bankwise/emulator/runtime/types.hpp>
