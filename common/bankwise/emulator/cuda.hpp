// CUDA for a host compiler: with this header an unmodified kernel file compiles as C++, and runs in
// bankwise::emulate().
//
//   #include <bankwise/emulator/cuda.hpp>
//   #include "my_kernel.cuh"
//
// CUDA's other headers have files in shims/. All of this is C++17, except bankwise::emulate(), which needs C++20.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#error "kernels in this source would not be recorded: name it in CMake's bankwise_emulate(<target> <source>...)"
#endif

#include <bankwise/emulator/cuda/qualifiers.hpp>
#ifdef BANKWISE_HOST_SOURCE
#include <bankwise/emulator/runtime/host.hpp>
#else
#include <bankwise/emulator/cuda/memory.hpp>
#include <bankwise/emulator/cuda/not_emulated.hpp>
#include <bankwise/emulator/cuda/ptx.hpp>
#include <bankwise/emulator/cuda/special_functions.hpp>
#if __cplusplus >= 202002L && !defined(BANKWISE_WHOLE_PROGRAM)  // which launches kernels itself
#include <bankwise/emulator/core/emulate.hpp>
#endif
#endif
