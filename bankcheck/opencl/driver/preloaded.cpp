// SPDX-License-Identifier: MIT
//
// For programs that are linked with OpenCL: Oclgrind is preloaded into them, and this library before it, so that the
// functions below are found first.
#include <dlfcn.h>

#include <type_traits>

#include "bankcheck/opencl/driver/gpu_device.hpp"

namespace {

const bankwise::opencl::Original& original() {
  static const bankwise::opencl::Original found = [] {
    bankwise::opencl::Original next;
    const auto find = [](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(RTLD_NEXT, name));
    };
    find(next.get_device_ids, "clGetDeviceIDs");
    find(next.get_device_info, "clGetDeviceInfo");
    find(next.get_kernel_work_group_info, "clGetKernelWorkGroupInfo");
    find(next.create_context_from_type, "clCreateContextFromType");
    return next;
  }();
  return found;
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] CL_API_ENTRY cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform,
                                                                              cl_device_type type, cl_uint room,
                                                                              cl_device_id* devices, cl_uint* count) {
  return bankwise::opencl::get_device_ids(original(), platform, type, room, devices, count);
}

[[gnu::visibility("default")]] CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info what,
                                                                               std::size_t room, void* value,
                                                                               std::size_t* size) {
  return bankwise::opencl::get_device_info(original(), device, what, room, value, size);
}

[[gnu::visibility("default")]] CL_API_ENTRY cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel,
                                                                                        cl_device_id device,
                                                                                        cl_kernel_work_group_info what,
                                                                                        std::size_t room, void* value,
                                                                                        std::size_t* size) {
  return bankwise::opencl::get_kernel_work_group_info(original(), kernel, device, what, room, value, size);
}

[[gnu::visibility("default")]] CL_API_ENTRY cl_context CL_API_CALL clCreateContextFromType(
    const cl_context_properties* properties, cl_device_type type,
    void(CL_CALLBACK* notify)(const char*, const void*, std::size_t, void*), void* user_data, cl_int* error) {
  return bankwise::opencl::create_context_from_type(original(), properties, type, notify, user_data, error);
}
}
