// SPDX-License-Identifier: MIT
//
// threadIdx, blockIdx, blockDim and gridDim as variables, which variables and members of a program may hide, as in
// `dim3 blockDim(32, 8);`. bankcheck writes blockDim.x as bankwise_x(blockDim).
#pragma once

#include <bankwise/emulator/cuda/indices.hpp>

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
  BANKWISE_DEVICE unsigned bankwise_##x(const BankwiseGridSize&) {    \
    return ::bankwise::emulator::device::grid_##x();                  \
  }
BANKWISE_COMPONENT(x)
BANKWISE_COMPONENT(y)
BANKWISE_COMPONENT(z)
#undef BANKWISE_COMPONENT
