#include <bankwise/emulator/runtime/textures.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <bankwise/emulator/core/global_memory.hpp>
#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/cuda/small_float_bits.hpp>
#include <bankwise/emulator/runtime/allocations.hpp>
#include <bankwise/emulator/runtime/captures.hpp>
#include <bankwise/emulator/runtime/messages.hpp>

using namespace bankwise::emulator;
using namespace bankwise::emulator::runtime;

namespace {

/// Whether a box, its x in bytes, lies in the array; if not, it has been reported.
bool contains(const cudaArray& array, std::size_t x, std::size_t y, std::size_t width, std::size_t height,
              std::string_view function, const void* caller) {
  if (x + width <= array.width * array.element && y + height <= array.height) return true;
  report(fmt::format("{} accesses rows {} to {} and bytes {} to {} of them of an array of {} rows of {} bytes",
                     function, y, y + height, x, x + width, array.height, array.width * array.element),
         caller);
  return false;
}

/// One side of a box copy: where a row begins.
struct BoxSide {
  const cudaArray* array;
  cudaPos position;
  cudaPitchedPtr memory;

  char* row(std::size_t y, std::size_t z) const {
    if (array != nullptr) return array->at(position.x, position.y + y, position.z + z);
    const std::size_t line = (position.z + z) * memory.ysize + position.y + y;
    return static_cast<char*>(memory.ptr) + line * memory.pitch + position.x;
  }
};

std::size_t texel_bytes(const cudaChannelFormatDesc& format) {
  return std::size_t(format.x + format.y + format.z + format.w) / 8;
}

/// What a texture or a surface reads.
struct View {
  cudaResourceDesc resource;
  cudaTextureDesc how;
  cudaChannelFormatDesc format;
  const char* data;
  std::size_t size[3];  ///< width, height, depth
  std::size_t pitch, element;

  const char* at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return data + (std::size_t(z) * size[1] + std::size_t(y)) * pitch + std::size_t(x) * element;
  }
};

/// What a resource describes; no data if nothing.
View view_of(const cudaResourceDesc& resource) {
  const auto view = [&](const cudaChannelFormatDesc& format, const void* data, std::size_t width, std::size_t height,
                        std::size_t depth, std::size_t pitch = 0) {
    const std::size_t element = texel_bytes(format);
    const auto* const begin = element != 0 ? static_cast<const char*>(data) : nullptr;
    if (pitch == 0) pitch = width * element;
    return View{resource, {}, format, begin, {width, height, depth}, pitch, element};
  };
  const auto& from = resource.res;
  if (const cudaArray* array = from.array.array; resource.resType == cudaResourceTypeArray && array != nullptr) {
    return view(array->format, array->data, array->width, array->height, array->depth);
  }
  if (const auto& linear = from.linear; resource.resType == cudaResourceTypeLinear) {
    const std::size_t element = std::max<std::size_t>(texel_bytes(linear.desc), 1);
    return view(linear.desc, linear.devPtr, linear.sizeInBytes / element, 1, 1);
  }
  if (const auto& pitched = from.pitch2D; resource.resType == cudaResourceTypePitch2D) {
    return view(pitched.desc, pitched.devPtr, pitched.width, pitched.height, 1, pitched.pitchInBytes);
  }
  return {};
}

/// For a kernel. Arrays are other memory than that which the emulator watches.
const View& view_for_kernel(unsigned long long object) {
  stay_in_order();
  global_memory.leave();
  return *reinterpret_cast<const View*>(object);
}

/// A texel as stored, in the form that the read mode asks for.
Texel read(const View& view, const char* at) {
  Texel texel{};
  const int bits[]{view.format.x, view.format.y, view.format.z, view.format.w};
  for (int k = 0; k < 4 && bits[k] > 0; ++k) {
    std::uint32_t raw = 0;
    std::memcpy(&raw, at, std::size_t(bits[k]) / 8);
    at += bits[k] / 8;
    const int shift = 32 - bits[k];
    switch (view.format.f) {
      case cudaChannelFormatKindFloat:
        texel.f[k] = bits[k] == 16 ? float(small_floats::value_of(device::FloatFormat::half, std::uint16_t(raw)))
                                   : __builtin_bit_cast(float, raw);
        break;
      case cudaChannelFormatKindSigned:
        texel.i[k] = std::int32_t(raw << shift) >> shift;
        texel.f[k] = std::max(-1.F, float(texel.i[k]) / float((1LL << (bits[k] - 1)) - 1));
        break;
      default: texel.i[k] = std::int32_t(raw); texel.f[k] = float(raw) / float((1LL << bits[k]) - 1);
    }
  }
  return texel;
}

/// The index that an addressing mode makes of one; -1 for the border.
std::int64_t addressed(std::int64_t i, std::int64_t size, cudaTextureAddressMode mode) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case cudaAddressModeWrap: return ((i % size) + size) % size;
    case cudaAddressModeMirror: {
      const std::int64_t period = ((i % (2 * size)) + 2 * size) % (2 * size);
      return period < size ? period : 2 * size - 1 - period;
    }
    case cudaAddressModeBorder: return -1;
    default: return std::clamp<std::int64_t>(i, 0, size - 1);
  }
}

/// Wrapping and mirroring are for normalized coordinates.
cudaTextureAddressMode mode_of(const View& view, int dimension) {
  const cudaTextureAddressMode mode = view.how.addressMode[dimension];
  const bool repeats = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
  return repeats && view.how.normalizedCoords == 0 ? cudaAddressModeClamp : mode;
}

Texel texel_at(const View& view, int dimensions, const std::int64_t (&index)[3], int layer) {
  std::int64_t place[3]{0, 0, 0};
  for (int d = 0; d < dimensions; ++d) {
    place[d] = addressed(index[d], std::int64_t(view.size[d]), mode_of(view, d));
    if (place[d] < 0) {
      Texel border{};
      std::copy(view.how.borderColor, view.how.borderColor + 4, border.f);
      return border;
    }
  }
  if (dimensions < 3) place[2] = std::clamp<std::int64_t>(layer, 0, std::int64_t(view.size[2]) - 1);
  return read(view, view.at(place[0], place[1], place[2]));
}

}  // namespace

namespace bankwise::emulator::runtime {

cudaError_t allocate_array(const char* function, cudaArray_t* array, const cudaChannelFormatDesc& format,
                           cudaExtent extent, unsigned flags) {
  const std::size_t element = texel_bytes(format);
  if (extent.width == 0 || element == 0) return failed(cudaErrorInvalidValue);
  const std::size_t height = std::max<std::size_t>(extent.height, 1), depth = std::max<std::size_t>(extent.depth, 1);
  void* data =
      allocate(MemoryKind::device, extent.width * height * depth * element, function, __builtin_return_address(0));
  if (data == nullptr) return failed(cudaErrorMemoryAllocation);
  *array = new cudaArray{format, extent.width, height, depth, flags, element, static_cast<char*>(data)};
  return lasting_error();
}

cudaError_t copy_box(const char* function, const cudaArray& array, std::size_t x, std::size_t y, const void* memory,
                     std::size_t pitch, std::size_t width, std::size_t height, bool to_array, cudaMemcpyKind kind,
                     cudaStream_t stream) {
  const void* const caller = __builtin_return_address(0);
  if (const std::size_t row = array.width * array.element; pitch == 0 && x == 0 && width % row == 0) {
    height = width / row;
    width = row;
  }
  if (pitch == 0) pitch = width;
  if (!contains(array, x, y, width, height, function, caller)) return failed(cudaErrorInvalidValue);
  return give_to(stream, cudaGraphNodeTypeMemcpy, [=] {
    for (std::size_t row = 0; row < height; ++row) {
      char* to = array.at(0, y + row, 0) + x;
      char* from = static_cast<char*>(const_cast<void*>(memory)) + row * pitch;
      if (!to_array) std::swap(to, from);
      if (const cudaError_t error = copy(to, from, width, kind, function, caller); error != cudaSuccess) return error;
    }
    return lasting_error();
  });
}

cudaError_t copy_boxes(const cudaMemcpy3DParms& parameters, const void* caller) {
  const BoxSide from{parameters.srcArray, parameters.srcPos, parameters.srcPtr},
      to{parameters.dstArray, parameters.dstPos, parameters.dstPtr};
  const cudaArray* array = from.array != nullptr ? from.array : to.array;
  const std::size_t width = parameters.extent.width * (array != nullptr ? array->element : 1);
  for (const BoxSide* side : {&from, &to}) {
    if (side->array == nullptr) continue;
    const cudaArray& cuda_array = *side->array;
    if (!contains(cuda_array, side->position.x * cuda_array.element, side->position.y, width, parameters.extent.height,
                  "cudaMemcpy3D", caller) ||
        side->position.z + parameters.extent.depth > cuda_array.depth) {
      return failed(cudaErrorInvalidValue);
    }
  }
  for (std::size_t z = 0; z < parameters.extent.depth; ++z) {
    for (std::size_t y = 0; y < parameters.extent.height; ++y) {
      const cudaError_t error = copy(to.row(y, z), from.row(y, z), width, parameters.kind, "cudaMemcpy3D", caller);
      if (error != cudaSuccess) return error;
    }
  }
  return lasting_error();
}

cudaError_t copy_between(const cudaMemcpy3DParms& parameters, cudaStream_t stream) {
  const void* const caller = __builtin_return_address(0);
  return give_to(stream, cudaGraphNodeTypeMemcpy, [=] { return copy_boxes(parameters, caller); });
}

Texel fetch(cudaTextureObject_t texture, int x) noexcept {
  const View& view = view_for_kernel(texture);
  return x < 0 || std::size_t(x) >= view.size[0] ? Texel{} : read(view, view.at(x, 0, 0));
}

Texel sample(cudaTextureObject_t texture, int dimensions, float x, float y, float z, int layer) noexcept {
  const View& view = view_for_kernel(texture);
  dimensions = std::clamp(dimensions, 1, 3);
  float coordinates[]{x, y, z};
  std::int64_t index[3]{0, 0, 0};
  if (view.how.normalizedCoords != 0) {
    for (int d = 0; d < dimensions; ++d) coordinates[d] *= float(view.size[d]);
  }
  const bool floats = view.format.f == cudaChannelFormatKindFloat || view.how.readMode == cudaReadModeNormalizedFloat;
  if (view.how.filterMode == cudaFilterModePoint || !floats) {
    for (int d = 0; d < dimensions; ++d) index[d] = std::int64_t(std::floor(coordinates[d]));
    return texel_at(view, dimensions, index, layer);
  }
  // Linear: between the centres of texels, with weights of 8 fractional bits.
  std::int64_t first[3]{0, 0, 0};
  float weights[3]{0, 0, 0};
  for (int d = 0; d < dimensions; ++d) {
    const float at = coordinates[d] - 0.5F, whole = std::floor(at);
    first[d] = std::int64_t(whole);
    weights[d] = std::nearbyint((at - whole) * 256) / 256;
  }
  Texel sum{};
  for (int corner = 0; corner < 1 << dimensions; ++corner) {
    float weight = 1;
    for (int d = 0; d < dimensions; ++d) {
      const int up = corner >> d & 1;
      index[d] = first[d] + up;
      weight *= up != 0 ? weights[d] : 1 - weights[d];
    }
    if (weight == 0) continue;
    const Texel texel = texel_at(view, dimensions, index, layer);
    for (int k = 0; k < 4; ++k) sum.f[k] += weight * texel.f[k];
  }
  return sum;
}

void surface_access(cudaSurfaceObject_t surface, bool writes, void* value, size_t bytes, int x, int y, int z,
                    cudaSurfaceBoundaryMode mode) noexcept {
  const View& view = view_for_kernel(surface);
  const auto row = std::int64_t(view.size[0] * view.element);
  const bool inside = x >= 0 && x + std::int64_t(bytes) <= row && y >= 0 && std::size_t(y) < view.size[1] && z >= 0 &&
                      std::size_t(z) < view.size[2];
  if (!inside) {
    if (mode == cudaBoundaryModeTrap && on_lane()) {
      trap("a surface is accessed outside of it", __builtin_return_address(0));
    }
    if (mode == cudaBoundaryModeZero || row < std::int64_t(bytes)) {
      if (!writes) std::memset(value, 0, bytes);
      return;
    }
    x = int(std::clamp<std::int64_t>(x, 0, row - std::int64_t(bytes)));
    y = std::clamp(y, 0, int(view.size[1]) - 1);
    z = std::clamp(z, 0, int(view.size[2]) - 1);
  }
  char* const at = const_cast<char*>(view.at(0, y, z)) + x;
  std::memcpy(writes ? at : value, writes ? value : at, bytes);
}

}  // namespace bankwise::emulator::runtime

cudaError_t cudaFreeArray(cudaArray_t array) {
  if (array == nullptr) return lasting_error();
  release(array->data, __builtin_return_address(0));
  delete array;
  return lasting_error();
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags, cudaArray_t array) {
  if (format != nullptr) *format = array->format;
  if (extent != nullptr) *extent = {array->width, array->height, array->depth};
  if (flags != nullptr) *flags = array->flags;
  return cudaSuccess;
}
// --- Textures and surfaces ---

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description, const cudaResourceViewDesc*) {
  View view = view_of(*resource);
  if (view.data == nullptr) return failed(cudaErrorInvalidValue);
  if (description != nullptr) view.how = *description;
  *texture = reinterpret_cast<cudaTextureObject_t>(new View(view));
  return lasting_error();
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  delete reinterpret_cast<View*>(texture);
  return lasting_error();
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture) {
  *resource = reinterpret_cast<const View*>(texture)->resource;
  return lasting_error();
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
  return cudaCreateTextureObject(surface, resource, nullptr, nullptr);
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) { return cudaDestroyTextureObject(surface); }
