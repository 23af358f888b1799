// SPDX-License-Identifier: MIT
//
// Texture and surface objects, and the functions with which kernels read and write them.
#pragma once

#include <bankwise/emulator/runtime/arrays.hpp>

using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;

enum cudaTextureAddressMode {
  cudaAddressModeWrap = 0,
  cudaAddressModeClamp = 1,
  cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };
enum cudaResourceType {
  cudaResourceTypeArray = 0,
  cudaResourceTypeMipmappedArray = 1,
  cudaResourceTypeLinear = 2,
  cudaResourceTypePitch2D = 3
};

struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
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

/// Reads or writes `bytes` of a surface at a byte of a row. Outside, reads are zero and writes do nothing, or, by mode,
/// go to the edge, or trap.
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
// X(name, further parameters, arguments of sample())
#define BANKWISE_TEXTURES(X)                                                                  \
  X(tex1D, (cudaTextureObject_t t, float x), (t, 1, x, 0, 0, 0))                              \
  X(tex1DLod, (cudaTextureObject_t t, float x, float), (t, 1, x, 0, 0, 0))                    \
  X(tex1DLayered, (cudaTextureObject_t t, float x, int layer), (t, 1, x, 0, 0, layer))        \
  X(tex2D, (cudaTextureObject_t t, float x, float y), (t, 2, x, y, 0, 0))                     \
  X(tex2DLod, (cudaTextureObject_t t, float x, float y, float), (t, 2, x, y, 0, 0))           \
  X(tex2DLayered, (cudaTextureObject_t t, float x, float y, int layer), (t, 2, x, y, 0, layer)) \
  X(tex3D, (cudaTextureObject_t t, float x, float y, float z), (t, 3, x, y, z, 0))            \
  X(tex3DLod, (cudaTextureObject_t t, float x, float y, float z, float), (t, 3, x, y, z, 0))
#define BANKWISE_TEXTURE(name, parameters, arguments)                                                         \
  template <class T>                                                                                          \
  BANKWISE_DEVICE T name parameters {                                                                           \
    return bankwise::emulator::runtime::from_texel<T>(bankwise::emulator::runtime::sample arguments);               \
  }
BANKWISE_TEXTURES(BANKWISE_TEXTURE)
#undef BANKWISE_TEXTURE
#undef BANKWISE_TEXTURES
// clang-format on
template <class T>
BANKWISE_DEVICE T tex1Dfetch(cudaTextureObject_t texture, int x) {
  return bankwise::emulator::runtime::from_texel<T>(bankwise::emulator::runtime::fetch(texture, x));
}

// clang-format off
// X(suffix of the name, coordinates, their arguments)
#define BANKWISE_SURFACES(X)                                        \
  X(1D, int x, (x, 0, 0))                                           \
  X(2D, int x BANKWISE_COMMA int y, (x, y, 0))                      \
  X(3D, int x BANKWISE_COMMA int y BANKWISE_COMMA int z, (x, y, z)) \
  X(1DLayered, int x BANKWISE_COMMA int z, (x, 0, z))               \
  X(2DLayered, int x BANKWISE_COMMA int y BANKWISE_COMMA int z, (x, y, z))
#define BANKWISE_COMMA ,
#define BANKWISE_UNPACK(x, y, z) x, y, z
#define BANKWISE_SURFACE(suffix, coordinates, list)                                                              \
  template <class T>                                                                                             \
  BANKWISE_DEVICE void surf##suffix##write(T value, cudaSurfaceObject_t surface, coordinates,                      \
                                         cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                  \
    bankwise::emulator::runtime::surface_access(surface, true, &value, sizeof value, BANKWISE_UNPACK list, mode);   \
  }                                                                                                              \
  template <class T>                                                                                             \
  BANKWISE_DEVICE void surf##suffix##read(T* value, cudaSurfaceObject_t surface, coordinates,                      \
                                        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                   \
    bankwise::emulator::runtime::surface_access(surface, false, value, sizeof *value, BANKWISE_UNPACK list, mode);  \
  }                                                                                                              \
  template <class T>                                                                                             \
  BANKWISE_DEVICE T surf##suffix##read(cudaSurfaceObject_t surface, coordinates,                                   \
                                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                      \
    T value;                                                                                                     \
    bankwise::emulator::runtime::surface_access(surface, false, &value, sizeof value, BANKWISE_UNPACK list, mode);  \
    return value;                                                                                                \
  }
BANKWISE_SURFACES(BANKWISE_SURFACE)
#undef BANKWISE_SURFACE
#undef BANKWISE_UNPACK
#undef BANKWISE_COMMA
#undef BANKWISE_SURFACES
// clang-format on
