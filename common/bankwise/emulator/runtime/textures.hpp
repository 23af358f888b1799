// CUDA arrays, and copies of boxes; texture and surface objects, and how kernels read and write them.
#pragma once

#include <bankwise/emulator/runtime/types.hpp>

// --- Arrays ---

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

// As in memory.hpp: the work of CUDA's `function`.
cudaError_t allocate_array(const char* function, cudaArray_t* array, const cudaChannelFormatDesc& format,
                           cudaExtent extent, unsigned flags);
/// Copies a box, its x in bytes, between an array and memory; a pitch of 0: as many rows as `width` bytes fill.
cudaError_t copy_box(const char* function, const cudaArray& array, size_t x, size_t y, const void* memory, size_t pitch,
                     size_t width, size_t height, bool to_array, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t copy_between(const cudaMemcpy3DParms& parameters, cudaStream_t stream = nullptr);
cudaError_t copy_boxes(const cudaMemcpy3DParms& parameters, const void* caller);

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
                       copy_box, (*to, x, y, from, pitch, width, height, true, kind))
BANKWISE_RUNTIME(cudaMemcpy2DFromArray,
                 (void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height,
                  cudaMemcpyKind kind),
                 copy_box(__func__, *from, x, y, to, pitch, width, height, false, kind))
BANKWISE_RUNTIME(cudaMemcpy3D, (const cudaMemcpy3DParms* parameters), copy_between(*parameters))
BANKWISE_RUNTIME(cudaMemcpy3DAsync, (const cudaMemcpy3DParms* parameters, cudaStream_t stream = nullptr),
                 copy_between(*parameters, stream))

// --- Textures and surfaces ---

using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;

enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };
// clang-format off
enum cudaResourceType {
  cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct { cudaArray_t array; } array;
    struct { void* devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
    struct { void* devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
  } res;
};
// clang-format on
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc {
  int format;
  size_t width, height, depth;
  unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
};

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description, const cudaResourceViewDesc* view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface);

namespace bankwise::emulator::runtime {

/// A texel: as numbers of 32 bits, or, for floating-point and normalized formats, as floats.
struct Texel {
  float f[4];
  int i[4];
};
/// The texel of integer coordinates, without filtering.
Texel fetch(cudaTextureObject_t texture, int x) noexcept;
/// `dimensions` of the three coordinates count; a layer is exact.
Texel sample(cudaTextureObject_t texture, int dimensions, float x, float y, float z, int layer) noexcept;

/// Reads or writes `bytes` of a surface at a byte of a row. Outside, by mode: zero and no write, the edge, or a trap.
void surface_access(cudaSurfaceObject_t surface, bool writes, void* value, size_t bytes, int x, int y, int z,
                    cudaSurfaceBoundaryMode mode) noexcept;

template <class T>
BANKWISE_DEVICE T from_texel(const Texel& texel) {
  using C = Component<T>;
  C parts[components<T>];
  for (int k = 0; k < components<T>; ++k) parts[k] = C(0.5) != C(0) ? C(texel.f[k]) : C(texel.i[k]);
  T value;
  __builtin_memcpy(&value, parts, sizeof value);
  return value;
}

}  // namespace bankwise::emulator::runtime

// clang-format off
#define BANKWISE_TEXTURE(name, parameters, ...)                                                       \
  template <class T>                                                                                  \
  BANKWISE_FUNCTION(T, name, parameters, bankwise_runtime::from_texel<T>(bankwise_runtime::__VA_ARGS__))
BANKWISE_TEXTURE(tex1Dfetch, (cudaTextureObject_t t, int x), fetch(t, x))
BANKWISE_TEXTURE(tex1D, (cudaTextureObject_t t, float x), sample(t, 1, x, 0, 0, 0))
BANKWISE_TEXTURE(tex1DLod, (cudaTextureObject_t t, float x, float), sample(t, 1, x, 0, 0, 0))
BANKWISE_TEXTURE(tex1DLayered, (cudaTextureObject_t t, float x, int layer), sample(t, 1, x, 0, 0, layer))
BANKWISE_TEXTURE(tex2D, (cudaTextureObject_t t, float x, float y), sample(t, 2, x, y, 0, 0))
BANKWISE_TEXTURE(tex2DLod, (cudaTextureObject_t t, float x, float y, float), sample(t, 2, x, y, 0, 0))
BANKWISE_TEXTURE(tex2DLayered, (cudaTextureObject_t t, float x, float y, int layer), sample(t, 2, x, y, 0, layer))
BANKWISE_TEXTURE(tex3D, (cudaTextureObject_t t, float x, float y, float z), sample(t, 3, x, y, z, 0))
BANKWISE_TEXTURE(tex3DLod, (cudaTextureObject_t t, float x, float y, float z, float), sample(t, 3, x, y, z, 0))
#undef BANKWISE_TEXTURE

// The arguments of surface_access() for the coordinates, then the coordinates.
#define BANKWISE_SURFACE(suffix, x_, y_, z_, ...)                                                              \
  template <class T>                                                                                           \
  BANKWISE_DEVICE void surf##suffix##write(T value, cudaSurfaceObject_t surface, __VA_ARGS__,                  \
                                           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {              \
    bankwise_runtime::surface_access(surface, true, &value, sizeof value, x_, y_, z_, mode);                   \
  }                                                                                                            \
  template <class T>                                                                                           \
  BANKWISE_DEVICE void surf##suffix##read(T* value, cudaSurfaceObject_t surface, __VA_ARGS__,                  \
                                          cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {               \
    bankwise_runtime::surface_access(surface, false, value, sizeof *value, x_, y_, z_, mode);                  \
  }                                                                                                            \
  template <class T>                                                                                           \
  BANKWISE_DEVICE T surf##suffix##read(cudaSurfaceObject_t surface, __VA_ARGS__,                               \
                                       cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                  \
    T value;                                                                                                   \
    bankwise_runtime::surface_access(surface, false, &value, sizeof value, x_, y_, z_, mode);                  \
    return value;                                                                                              \
  }
BANKWISE_SURFACE(1D, x, 0, 0, int x)
BANKWISE_SURFACE(2D, x, y, 0, int x, int y)
BANKWISE_SURFACE(3D, x, y, z, int x, int y, int z)
BANKWISE_SURFACE(1DLayered, x, 0, z, int x, int z)
BANKWISE_SURFACE(2DLayered, x, y, z, int x, int y, int z)
#undef BANKWISE_SURFACE
// clang-format on
