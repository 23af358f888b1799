// SPDX-License-Identifier: MIT
//
// For programs that are linked with OpenCL: Oclgrind is preloaded into them, and this library before it, so that the
// functions below are found first.
#include <dlfcn.h>

#include <string>
#include <type_traits>

#include "bankcheck/opencl/driver/gpu_device.hpp"
#include "bankcheck/opencl/driver/note.hpp"

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

/// Whether the source of a program that is built has this kernel.
bool has_kernel(cl_program program, const std::string& name) {
  std::size_t bytes = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &bytes) != CL_SUCCESS) return false;
  std::string names(bytes, '\0');
  if (clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, bytes, names.data(), nullptr) != CL_SUCCESS) return false;
  return (';' + std::string(names.c_str()) + ';').find(';' + name + ';') != std::string::npos;
}

}  // namespace

extern "C" {

/// Oclgrind returns CL_INVALID_KERNEL_NAME for a kernel that it cannot create, too.
[[gnu::visibility("default")]] CL_API_ENTRY cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char* name,
                                                                                 cl_int* error) {
  static const auto create = reinterpret_cast<decltype(&clCreateKernel)>(dlsym(RTLD_NEXT, "clCreateKernel"));
  const cl_kernel kernel = create(program, name, error);
  if (kernel == nullptr && name != nullptr && has_kernel(program, name)) {
    bankwise::opencl::note("unable", ("it cannot create the kernel " + std::string(name)).c_str());
  }
  return kernel;
}

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
