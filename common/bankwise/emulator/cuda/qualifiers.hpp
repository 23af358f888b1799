// SPDX-License-Identifier: MIT
//
// CUDA's qualifiers. g++ knows __restrict__, __inline__ and __builtin_assume_aligned itself.
#pragma once

// Headers that use `alignas`, which is about to become a macro.
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

/// What every word of CUDA is here: a part of the kernel that calls it. A call would be a deeper level of the call
/// stack for the scheduler, and a function of its own has basic blocks of its own, which count as the kernel's work.
#define BANKWISE_WORD __attribute__((always_inline)) inline

// For kernels that choose by architecture. Not __CUDACC__: too many libraries believe what it says.
#define __CUDA_ARCH__ 900

// All that a kernel calls is inlined, as nvcc does: g++ does not instrument what is read for an argument passed by value.
#define __global__ __attribute__((flatten))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)

/// Each host thread runs one block at a time, and the emulator knows where its thread-local memory lies.
/// No section, no alignment: g++ ignores the one in templates, and the other belongs to the array.
#define __shared__ thread_local

#define __forceinline__ __inline__ __attribute__((always_inline))

// Nothing: libstdc++ writes __attribute__((__noinline__)), which stays right this way. It takes an inlined function
// no more steps than a called one.
#define __noinline__

#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))

// `__shared__ alignas(16) char x[N]` is CUDA, but `thread_local alignas(16) char x[N]` is no C++: g++ takes the GNU
// attribute in that place only.
#define alignas(...) __attribute__((aligned(::bankwise::emulator::words::alignment<__VA_ARGS__>())))

namespace bankwise::emulator::words {

template <auto bytes>
consteval std::size_t alignment() {
  return bytes > 0 ? std::size_t(bytes) : 1;
}
template <class... Types>
consteval std::size_t alignment() {
  std::size_t most = 1;
  ((most = alignof(Types) > most ? alignof(Types) : most), ...);
  return most;
}

}  // namespace bankwise::emulator::words

/// The macro of the emulation mode of CUDA 1.x. It counted the conflicts of array[index]; here that is done
/// for every access.
#define CUT_BANK_CHECKER(array, index) ((array)[index])

namespace bankwise::cuda {}
using namespace bankwise::cuda;
