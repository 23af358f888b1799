// SPDX-License-Identifier: MIT
#include <bankwise/emulator/runtime/arrays.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <bankwise/emulator/runtime/allocations.hpp>
#include <bankwise/emulator/runtime/messages.hpp>

using namespace bankwise::emulator::runtime;

namespace {

cudaError_t make(cudaArray_t* array, const cudaChannelFormatDesc& format, std::size_t width, std::size_t height,
                 std::size_t depth, unsigned flags, std::string_view function, const void* caller) {
  const std::size_t element = std::size_t(format.x + format.y + format.z + format.w) / 8;
  if (width == 0 || element == 0) return failed(cudaErrorInvalidValue);
  height = std::max<std::size_t>(height, 1);
  depth = std::max<std::size_t>(depth, 1);
  void* data = allocate(MemoryKind::device, width * height * depth * element, function, caller);
  if (data == nullptr) return failed(cudaErrorMemoryAllocation);
  *array = new cudaArray{format, width, height, depth, flags, element, static_cast<char*>(data)};
  return lasting_error();
}

/// Whether a box, its x in bytes, lies in the array; if not, it has been reported.
bool contains(const cudaArray& array, std::size_t x, std::size_t y, std::size_t width, std::size_t height,
              std::string_view function, const void* caller) {
  if (x + width <= array.width * array.element && y + height <= array.height) return true;
  report(fmt::format("{} accesses rows {} to {} and bytes {} to {} of them of an array of {} rows of {} bytes",
                     function, y, y + height, x, x + width, array.height, array.width * array.element),
         caller);
  return false;
}

/// Copies a box between an array and memory.
cudaError_t copy_box(const cudaArray& array, std::size_t x, std::size_t y, void* memory, std::size_t pitch,
                     std::size_t width, std::size_t height, bool to_array, cudaMemcpyKind kind,
                     std::string_view function, const void* caller) {
  if (!contains(array, x, y, width, height, function, caller)) return failed(cudaErrorInvalidValue);
  for (std::size_t row = 0; row < height; ++row) {
    char* const in_array = array.at(0, y + row, 0) + x;
    char* const in_memory = static_cast<char*>(memory) + row * pitch;
    const cudaError_t error = to_array ? copy(in_array, in_memory, width, kind, function, caller)
                                       : copy(in_memory, in_array, width, kind, function, caller);
    if (error != cudaSuccess) return error;
  }
  return lasting_error();
}

}  // namespace

#define BANKWISE_CALLER __builtin_return_address(0)

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width, size_t height,
                            unsigned flags) {
  return make(array, *format, width, height, 1, flags, "cudaMallocArray", BANKWISE_CALLER);
}
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned flags) {
  return make(array, *format, extent.width, extent.height, extent.depth, flags, "cudaMalloc3DArray", BANKWISE_CALLER);
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  if (array == nullptr) return lasting_error();
  release(array->data, BANKWISE_CALLER);
  delete array;
  return lasting_error();
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags, cudaArray_t array) {
  if (format != nullptr) *format = array->format;
  if (extent != nullptr) *extent = {array->width, array->height, array->depth};
  if (flags != nullptr) *flags = array->flags;
  return cudaSuccess;
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  *format = array->format;
  return cudaSuccess;
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind) {
  const std::size_t row = to->width * to->element;
  if (x == 0 && bytes % row == 0) {
    return copy_box(*to, 0, y, const_cast<void*>(from), row, row, bytes / row, true, kind, "cudaMemcpyToArray",
                    BANKWISE_CALLER);
  }
  return copy_box(*to, x, y, const_cast<void*>(from), bytes, bytes, 1, true, kind, "cudaMemcpyToArray",
                  BANKWISE_CALLER);
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                cudaMemcpyKind kind) {
  const std::size_t row = from->width * from->element;
  if (x == 0 && bytes % row == 0) {
    return copy_box(*from, 0, y, to, row, row, bytes / row, false, kind, "cudaMemcpyFromArray", BANKWISE_CALLER);
  }
  return copy_box(*from, x, y, to, bytes, bytes, 1, false, kind, "cudaMemcpyFromArray", BANKWISE_CALLER);
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  return copy_box(*to, x, y, const_cast<void*>(from), pitch, width, height, true, kind, "cudaMemcpy2DToArray",
                  BANKWISE_CALLER);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t) {
  return copy_box(*to, x, y, const_cast<void*>(from), pitch, width, height, true, kind, "cudaMemcpy2DToArrayAsync",
                  BANKWISE_CALLER);
}
cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind) {
  return copy_box(*from, x, y, to, pitch, width, height, false, kind, "cudaMemcpy2DFromArray", BANKWISE_CALLER);
}

namespace {

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

cudaError_t copy_3d(const cudaMemcpy3DParms& parameters, const void* caller) {
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

}  // namespace

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) { return copy_3d(*parameters, BANKWISE_CALLER); }
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t) {
  return copy_3d(*parameters, BANKWISE_CALLER);
}
