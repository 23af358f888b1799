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
#include <bankwise/emulator/cuda/math.hpp>
#include <bankwise/emulator/cuda/memory.hpp>
#include <bankwise/emulator/cuda/not_emulated.hpp>
#include <bankwise/emulator/cuda/ptx.hpp>
#include <bankwise/emulator/cuda/qualifiers.hpp>
#include <bankwise/emulator/cuda/simd.hpp>
#include <bankwise/emulator/cuda/special_functions.hpp>
#include <bankwise/emulator/cuda/synchronization.hpp>
#include <bankwise/emulator/cuda/vector_types.hpp>
#include <bankwise/emulator/cuda/warp.hpp>

// threadIdx, blockIdx, blockDim and gridDim as variables, which variables and members of a program may hide, as in
// `dim3 blockDim(32, 8);`. bankcheck writes blockDim.x as bankwise_x(blockDim).
#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

#define BANKWISE_INDEX(Type, name, whole, Result)                                           \
  struct Type {                                                                             \
    BANKWISE_DEVICE operator Result() const { return ::bankwise::emulator::cuda::whole(); } \
  };                                                                                        \
  inline constexpr Type name{};
BANKWISE_INDEX(BankwiseThreadIndex, threadIdx, thread_index, uint3)
BANKWISE_INDEX(BankwiseBlockIndex, blockIdx, block_index, uint3)
BANKWISE_INDEX(BankwiseBlockSize, blockDim, block_dimensions, dim3)
BANKWISE_INDEX(BankwiseGridSize, gridDim, grid_dimensions, dim3)
#undef BANKWISE_INDEX

#define BANKWISE_COMPONENT(x)                                         \
  template <class T>                                                  \
  BANKWISE_DEVICE auto& bankwise_##x(T& vector) {                     \
    return vector.x;                                                  \
  }                                                                   \
  BANKWISE_DEVICE unsigned bankwise_##x(const BankwiseThreadIndex&) { \
    return ::bankwise::emulator::device::thread_##x();                \
  }                                                                   \
  BANKWISE_DEVICE unsigned bankwise_##x(const BankwiseBlockIndex&) {  \
    return ::bankwise::emulator::device::block_##x();                 \
  }                                                                   \
  BANKWISE_DEVICE unsigned bankwise_##x(const BankwiseBlockSize&) {   \
    return ::bankwise::emulator::device::block_size_##x();            \
  }                                                                   \
  BANKWISE_DEVICE unsigned bankwise_##x(const BankwiseGridSize&) { return ::bankwise::emulator::device::grid_##x(); }
BANKWISE_COMPONENT(x)
BANKWISE_COMPONENT(y)
BANKWISE_COMPONENT(z)
#undef BANKWISE_COMPONENT

#include <bankwise/emulator/runtime/arrays.hpp>
#include <bankwise/emulator/runtime/device.hpp>
#include <bankwise/emulator/runtime/errors.hpp>
#include <bankwise/emulator/runtime/launching.hpp>
#include <bankwise/emulator/runtime/memory.hpp>
#include <bankwise/emulator/runtime/textures.hpp>
#include <bankwise/emulator/runtime/types.hpp>
