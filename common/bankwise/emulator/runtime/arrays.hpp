// SPDX-License-Identifier: MIT
//
// CUDA arrays, which textures and surfaces read, and copies of boxes.
#pragma once

#include <bankwise/emulator/runtime/types.hpp>

// clang-format off
enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat, cudaChannelFormatKindNone
};
// clang-format on
struct cudaChannelFormatDesc {
  int x, y, z, w;  ///< bits
  cudaChannelFormatKind f;
};
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() { return {16, 0, 0, 0, cudaChannelFormatKindFloat}; }

namespace bankwise::emulator::runtime {

/// The component of a vector type, or the type itself.
template <class T, class = void>
struct ComponentOf {
  using Type = T;
};
template <class T>
struct ComponentOf<T, decltype(void(T::x))> {
  using Type = decltype(T::x);
};
template <class T>
using Component = typename ComponentOf<T>::Type;
template <class T>
constexpr int components = int(sizeof(T) / sizeof(Component<T>));

}  // namespace bankwise::emulator::runtime

template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using namespace bankwise::emulator::runtime;
  using C = Component<T>;
  constexpr int bits = 8 * int(sizeof(C)), n = components<T>;
  constexpr auto kind = C(0.5) != C(0) ? cudaChannelFormatKindFloat
                        : C(-1) < C(0) ? cudaChannelFormatKindSigned
                                       : cudaChannelFormatKindUnsigned;
  return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0, kind};
}

/// Rows without gaps, layers after one another.
struct cudaArray {
  cudaChannelFormatDesc format;
  size_t width, height, depth;  ///< at least 1
  unsigned flags;
  size_t element;  ///< bytes
  char* data;

  char* at(size_t x, size_t y, size_t z) const { return data + ((z * height + y) * width + x) * element; }
};
using cudaArray_t = cudaArray*;
using cudaArray_const_t = const cudaArray*;
// clang-format off
enum : unsigned {
  cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2, cudaArrayCubemap = 4,
  cudaArrayTextureGather = 8
};
// clang-format on
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};

namespace bankwise::emulator::runtime {

// As in memory.hpp: the work of CUDA's `function`.
cudaError_t allocate_array(const char* function, cudaArray_t* array, const cudaChannelFormatDesc& format,
                           cudaExtent extent, unsigned flags);
/// Copies a box, its x in bytes, between an array and memory; a pitch of 0: as many rows as `width` bytes fill.
cudaError_t copy_box(const char* function, const cudaArray& array, size_t x, size_t y, const void* memory, size_t pitch,
                     size_t width, size_t height, bool to_array, cudaMemcpyKind kind);

}  // namespace bankwise::emulator::runtime

BANKWISE_RUNTIME(cudaMallocArray,
                 (cudaArray_t * array, const cudaChannelFormatDesc* format, size_t width, size_t height = 0,
                  unsigned flags = 0),
                 allocate_array(__func__, array, *format, {width, height, 1}, flags))
BANKWISE_RUNTIME(cudaMalloc3DArray,
                 (cudaArray_t * array, const cudaChannelFormatDesc* format, cudaExtent extent, unsigned flags = 0),
                 allocate_array(__func__, array, *format, extent, flags))
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags, cudaArray_t array);
BANKWISE_RUNTIME(cudaGetChannelDesc, (cudaChannelFormatDesc * format, cudaArray_const_t array),
                 give(format, array->format))
BANKWISE_RUNTIME(cudaMemcpyToArray,
                 (cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind),
                 copy_box(__func__, *to, x, y, from, 0, bytes, 1, true, kind))
BANKWISE_RUNTIME(cudaMemcpyFromArray,
                 (void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind),
                 copy_box(__func__, *from, x, y, to, 0, bytes, 1, false, kind))
BANKWISE_RUNTIME_ASYNC(cudaMemcpy2DToArray,
                       (cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                        cudaMemcpyKind kind),
                       copy_box(__func__, *to, x, y, from, pitch, width, height, true, kind))
BANKWISE_RUNTIME(cudaMemcpy2DFromArray,
                 (void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                  cudaMemcpyKind kind),
                 copy_box(__func__, *from, x, y, to, pitch, width, height, false, kind))
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters);
BANKWISE_FUNCTION(cudaError_t, cudaMemcpy3DAsync, (const cudaMemcpy3DParms* parameters, cudaStream_t = nullptr),
                  cudaMemcpy3D(parameters))
