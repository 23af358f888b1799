// HIP for a whole program in the emulator: `bankcheck emulate` includes this header before the first line of each
// source of a HIP program. The types and functions are those of CUDA; hip/bankwise_names.h, which CMake writes, has
// HIP's names of them. What HIP has in addition is here. Compiles as C++17 and later.
//
// Without BANKWISE_HIP bankcheck only looks whether a source includes HIP.
#pragma once

#ifdef BANKWISE_HIP

#include <hip/bankwise_names.h>
#include <bankwise/emulator/runtime/program.hpp>

#ifdef BANKWISE_WAVE  // a GPU of AMD
#undef CUDA_VERSION
#undef CUDART_VERSION
#include <bankwise/emulator/hip/amdgcn.hpp>

// Operators of HIP's vector types, component by component. Templates, as HIP's are: those that a program defines for a
// type take precedence.
namespace bankwise::emulator::cuda {

/// How many components a vector type has; 0 for other types.
template <class>
inline constexpr int vector_length = 0;
#define BANKWISE_LENGTHS(type, prefix, ...)          \
  template <>                                        \
  inline constexpr int vector_length<prefix##1> = 1; \
  template <>                                        \
  inline constexpr int vector_length<prefix##2> = 2; \
  template <>                                        \
  inline constexpr int vector_length<prefix##3> = 3; \
  template <>                                        \
  inline constexpr int vector_length<prefix##4> = 4;
BANKWISE_VECTORS(BANKWISE_LENGTHS)
#undef BANKWISE_LENGTHS

template <class V, class Result = V>
using IfVector = std::enable_if_t<(vector_length<V> > 0), Result>;
template <class V, class S, class Result = V>
using IfVectorAndScalar = std::enable_if_t<(vector_length<V> > 0) && std::is_arithmetic_v<S>, Result>;

/// A vector whose components are all the same.
template <class V, class S>
BANKWISE_DEVICE constexpr V broadcast(S value) {
  return V(static_cast<decltype(V::x)>(value));
}

#define BANKWISE_OPERATION(operation)                                                     \
  template <class V>                                                                      \
  BANKWISE_DEVICE constexpr IfVector<V>& operator operation##=(V& a, const V& b) {        \
    a.x operation## = b.x;                                                                \
    if constexpr (vector_length < V >> 1) a.y operation## = b.y;                          \
    if constexpr (vector_length < V >> 2) a.z operation## = b.z;                          \
    if constexpr (vector_length < V >> 3) a.w operation## = b.w;                          \
    return a;                                                                             \
  }                                                                                       \
  template <class V, class S>                                                             \
  BANKWISE_DEVICE constexpr IfVectorAndScalar<V, S>& operator operation##=(V& a, S b) {   \
    return a operation## = broadcast<V>(b);                                               \
  }                                                                                       \
  template <class V>                                                                      \
  BANKWISE_DEVICE constexpr IfVector<V> operator operation(V a, const V& b) {             \
    return a operation## = b;                                                             \
  }                                                                                       \
  template <class V, class S>                                                             \
  BANKWISE_DEVICE constexpr IfVectorAndScalar<V, S> operator operation(V a, S b) {        \
    return a operation## = broadcast<V>(b);                                               \
  }                                                                                       \
  template <class V, class S>                                                             \
  BANKWISE_DEVICE constexpr IfVectorAndScalar<V, S> operator operation(S a, const V& b) { \
    return broadcast<V>(a) operation b;                                                   \
  }
// clang-format off
BANKWISE_OPERATION(+) BANKWISE_OPERATION(-) BANKWISE_OPERATION(*) BANKWISE_OPERATION(/) BANKWISE_OPERATION(%)
BANKWISE_OPERATION(&) BANKWISE_OPERATION(|) BANKWISE_OPERATION(^) BANKWISE_OPERATION(<<) BANKWISE_OPERATION(>>)
// clang-format on
#undef BANKWISE_OPERATION

        template <class V>
        BANKWISE_DEVICE constexpr IfVector<V> operator-(const V& a) {
  return a * broadcast<V>(-1);
}
template <class V>
BANKWISE_DEVICE constexpr IfVector<V> operator~(const V& a) {
  return a ^ broadcast<V>(-1);
}
template <class V>
BANKWISE_DEVICE constexpr IfVector<V, bool> operator==(const V& a, const V& b) {
  bool same = a.x == b.x;
  if constexpr (vector_length < V >> 1) same = same & (a.y == b.y);
  if constexpr (vector_length < V >> 2) same = same & (a.z == b.z);
  if constexpr (vector_length < V >> 3) same = same & (a.w == b.w);
  return same;
}
template <class V>
BANKWISE_DEVICE constexpr IfVector<V, bool> operator!=(const V& a, const V& b) {
  return !(a == b);
}

}  // namespace bankwise::emulator::cuda

/// The emulator's run time finds it in a HIP program: the architecture that it is built for.
extern "C" {
__attribute__((weak, used)) extern const char bankwise_gpu[] = BANKWISE_GPU;
}
#endif

#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 2
#define HIP_VERSION_PATCH 0
#define HIP_VERSION 60200000
#define HIP_INCLUDE_HIP_HIP_RUNTIME_H
#define HIP_INCLUDE_HIP_HIP_RUNTIME_API_H

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(symbol) symbol
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
#define hipLaunchKernelGGL(kernel, grid, block, bytes, stream, ...) \
  kernel<<<dim3(grid), dim3(block), bytes, stream>>>(__VA_ARGS__)
#define hipLaunchKernelGGLInternal hipLaunchKernelGGL

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

// --- Functions of the host that CUDA has not ---

using hipDeviceptr_t = void*;
using hipDevice_t = int;

BANKWISE_ALLOCATION(pinned, hipHostMalloc, size_t bytes, unsigned = 0)
BANKWISE_ALLOCATION(device, hipExtMallocWithFlags, size_t bytes, unsigned)
#undef BANKWISE_ALLOCATION
#define BANKWISE_COPY(name, kind)                                                                                   \
  BANKWISE_DEVICE hipError_t hipMemcpy##name(void* to, const void* from, size_t bytes) {                            \
    return cudaMemcpy(to, from, bytes, cudaMemcpy##kind);                                                           \
  }                                                                                                                 \
  BANKWISE_DEVICE hipError_t hipMemcpy##name##Async(void* to, const void* from, size_t bytes, hipStream_t stream) { \
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpy##kind, stream);                                              \
  }
BANKWISE_COPY(HtoD, HostToDevice)
BANKWISE_COPY(DtoH, DeviceToHost)
BANKWISE_COPY(DtoD, DeviceToDevice)
#undef BANKWISE_COPY

inline hipError_t hipInit(unsigned) { return hipSuccess; }
inline hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  *device = ordinal;
  return hipSetDevice(ordinal);
}
inline hipError_t hipDeviceGetName(char* name, int bytes, hipDevice_t device) {
  hipDeviceProp_t properties;
  const hipError_t error = hipGetDeviceProperties(&properties, device);
  snprintf(name, size_t(bytes), "%s", properties.name);
  return error;
}
inline hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device) {
  hipDeviceProp_t properties;
  const hipError_t error = hipGetDeviceProperties(&properties, device);
  *bytes = properties.totalGlobalMem;
  return error;
}

#endif
