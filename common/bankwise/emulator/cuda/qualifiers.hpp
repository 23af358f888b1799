// CUDA's qualifiers. g++ knows __restrict__, __inline__ and __builtin_assume_aligned itself.
#pragma once

#include <cstddef>

// In a whole program (program.hpp) `alignas` is no macro: bankcheck moves it to where C++ allows it. A program then
// gets no header that it has not included, whose names could be ambiguous after `using namespace std;`.
#ifndef BANKWISE_WHOLE_PROGRAM
// Headers that use `alignas` come first, because it becomes a macro.
#include <any>
#include <array>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>
// And those that write [[__gnu__::__noinline__]].
#if __has_include(<format>)
#include <format>
#endif
#if __has_include(<stacktrace>)
#include <stacktrace>
#endif
#endif

/// All of CUDA's functions here are inlined into the kernel that calls them. A call would be a deeper level of the call
/// stack for the scheduler, and a separate function has separate basic blocks, which would count as the kernel's work.
#define BANKWISE_DEVICE __attribute__((always_inline)) inline

/// A function that returns one expression.
#define BANKWISE_FUNCTION(result, name, parameters, ...) \
  BANKWISE_DEVICE result name parameters { return __VA_ARGS__; }

// For kernels that select by architecture. Not __CUDACC__, because too many libraries rely on it. For a whole program
// bankcheck defines nvcc's macros.
#ifndef BANKWISE_WHOLE_PROGRAM
#define __CUDA_ARCH__ 900
#elif !defined(__CUDACC__) && !defined(BANKWISE_HIP)
#define BANKWISE_HOST_SOURCE  // which has no functions of kernels
#endif

// All functions that a kernel calls are inlined, as in nvcc: g++ does not instrument reads of arguments by value.
#define __global__ __attribute__((flatten))
#define __device__
#define __host__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)

/// Each host thread runs one block at a time, and the emulator knows the address of its thread-local memory. There is
/// no section and no alignment attribute: g++ ignores a section in templates, and the array specifies the alignment.
#ifndef BANKWISE_WHOLE_PROGRAM
#define __shared__ thread_local
#define __constant__
#else  // bankcheck writes thread_local for it after preprocessing: a program may define thread_local as a macro
#define __shared__ bankwise_shared
#define __constant__ bankwise_constant
#endif

#define __forceinline__ __inline__ __attribute__((always_inline))

// Empty, so libstdc++'s __attribute__((__noinline__)) stays valid. Inlined functions take no more steps.
#define __noinline__

#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))

#ifndef BANKWISE_WHOLE_PROGRAM
// `__shared__ alignas(16) char x[N]` is CUDA, but `thread_local alignas(16) char x[N]` is invalid C++: g++ accepts only
// the GNU attribute in that place.
#define alignas(...) __attribute__((aligned(::bankwise::emulator::device::alignment<__VA_ARGS__>())))
#endif

namespace bankwise::emulator::device {

template <auto bytes>
constexpr std::size_t alignment() {
  return bytes > 0 ? std::size_t(bytes) : 1;
}
template <class... Types>
constexpr std::size_t alignment() {
  std::size_t greatest = 1;
  ((greatest = alignof(Types) > greatest ? alignof(Types) : greatest), ...);
  return greatest;
}

}  // namespace bankwise::emulator::device

/// The macro of the emulation mode of CUDA 1.x. It counted conflicts of array[index]; here every access counts.
#define CUT_BANK_CHECKER(array, index) ((array)[index])

namespace bankwise::emulator::cuda {}
using namespace bankwise::emulator::cuda;
