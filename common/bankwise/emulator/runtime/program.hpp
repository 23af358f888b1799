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
#include <iostream>  // as Thrust for CUDA does
#include <new>
#include <type_traits>
#include <utility>

#include <bankwise/emulator/cuda/cooperative_groups.hpp>
#include <bankwise/emulator/cuda/memory.hpp>
#include <bankwise/emulator/cuda/not_emulated.hpp>
#include <bankwise/emulator/cuda/ptx.hpp>
#include <bankwise/emulator/cuda/special_functions.hpp>

// threadIdx, blockIdx, blockDim and gridDim as variables, which variables and members of a program may hide, as in
// `dim3 blockDim(32, 8);`. bankcheck writes blockDim.x as bankwise_x(blockDim).
#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

#define BANKWISE_INDEX(Type, name, whole, Result, part)                                            \
  struct Type {                                                                                    \
    BANKWISE_DEVICE operator Result() const { return ::bankwise::emulator::cuda::whole(); }        \
  };                                                                                               \
  inline constexpr Type name{};                                                                    \
  BANKWISE_FUNCTION(unsigned, bankwise_x, (const Type&), ::bankwise::emulator::device::part##_x()) \
  BANKWISE_FUNCTION(unsigned, bankwise_y, (const Type&), ::bankwise::emulator::device::part##_y()) \
  BANKWISE_FUNCTION(unsigned, bankwise_z, (const Type&), ::bankwise::emulator::device::part##_z())
// clang-format off
BANKWISE_INDEX(BankwiseThreadIndex, threadIdx, thread_index, uint3, thread)
BANKWISE_INDEX(BankwiseBlockIndex, blockIdx, block_index, uint3, block)
BANKWISE_INDEX(BankwiseBlockSize, blockDim, block_dimensions, dim3, block_size)
BANKWISE_INDEX(BankwiseGridSize, gridDim, grid_dimensions, dim3, grid)
template <class T> BANKWISE_FUNCTION(auto&, bankwise_x, (T& vector), vector.x)
template <class T> BANKWISE_FUNCTION(auto&, bankwise_y, (T& vector), vector.y)
template <class T> BANKWISE_FUNCTION(auto&, bankwise_z, (T& vector), vector.z)
// clang-format on
#undef BANKWISE_INDEX

namespace bankwise::emulator::runtime {

  template <std::size_t rank>
  struct ArrayShape {
    std::uint32_t numbers[1 + rank];  // a size_t is more than any array in shared memory needs
  };
  /// The bytes of an element, and the length of each dimension. The constants that bankcheck adds hold it.
  template <class Array, std::size_t... dimensions>
  constexpr auto array_shape(std::index_sequence<dimensions...>) {
    return ArrayShape<sizeof...(dimensions)>{
        {sizeof(std::remove_all_extents_t<Array>), std::uint32_t(std::extent_v<Array, dimensions>)...}};
  }
  template <class Array>
  constexpr auto array_shape() {
    return array_shape<Array>(std::make_index_sequence<std::rank_v<Array>>());
  }

}  // namespace bankwise::emulator::runtime

#include <bankwise/emulator/runtime/host.hpp>
