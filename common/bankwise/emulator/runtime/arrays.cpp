// SPDX-License-Identifier: MIT
#include <bankwise/emulator/runtime/arrays.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <bankwise/emulator/runtime/allocations.hpp>
#include <bankwise/emulator/runtime/messages.hpp>

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

}  // namespace

namespace bankwise::emulator::runtime {

cudaError_t allocate_array(const char* function, cudaArray_t* array, const cudaChannelFormatDesc& format,
                           cudaExtent extent, unsigned flags) {
  const std::size_t element = std::size_t(format.x + format.y + format.z + format.w) / 8;
  if (extent.width == 0 || element == 0) return failed(cudaErrorInvalidValue);
  const std::size_t height = std::max<std::size_t>(extent.height, 1), depth = std::max<std::size_t>(extent.depth, 1);
  void* data =
      allocate(MemoryKind::device, extent.width * height * depth * element, function, __builtin_return_address(0));
  if (data == nullptr) return failed(cudaErrorMemoryAllocation);
  *array = new cudaArray{format, extent.width, height, depth, flags, element, static_cast<char*>(data)};
  return lasting_error();
}

cudaError_t copy_box(const char* function, const cudaArray& array, std::size_t x, std::size_t y, const void* memory,
                     std::size_t pitch, std::size_t width, std::size_t height, bool to_array, cudaMemcpyKind kind) {
  const void* const caller = __builtin_return_address(0);
  if (const std::size_t row = array.width * array.element; pitch == 0 && x == 0 && width % row == 0) {
    height = width / row;
    width = row;
  }
  if (pitch == 0) pitch = width;
  if (!contains(array, x, y, width, height, function, caller)) return failed(cudaErrorInvalidValue);
  for (std::size_t row = 0; row < height; ++row) {
    char* to = array.at(0, y + row, 0) + x;
    char* from = static_cast<char*>(const_cast<void*>(memory)) + row * pitch;
    if (!to_array) std::swap(to, from);
    if (const cudaError_t error = copy(to, from, width, kind, function, caller); error != cudaSuccess) return error;
  }
  return lasting_error();
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
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters_) {
  const void* const caller = __builtin_return_address(0);
  const cudaMemcpy3DParms& parameters = *parameters_;
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
