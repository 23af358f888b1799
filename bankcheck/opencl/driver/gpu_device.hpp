// SPDX-License-Identifier: MIT
//
// Makes Oclgrind's device a GPU. Oclgrind calls it a CPU, a GPU and an accelerator with one compute unit, and libraries
// then choose their code for CPUs, which is not the code that a GPU runs.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS  // clGetExtensionFunctionAddress
#include <CL/cl.h>
#include <CL/cl_icd.h>

namespace bankwise::opencl {

/// Oclgrind's functions. The others of this header take the parameters of the OpenCL functions of their names.
struct Original {
  decltype(&::clGetDeviceIDs) get_device_ids = nullptr;
  decltype(&::clGetDeviceInfo) get_device_info = nullptr;
  decltype(&::clGetKernelWorkGroupInfo) get_kernel_work_group_info = nullptr;
  decltype(&::clCreateContextFromType) create_context_from_type = nullptr;
};

/// There is one device, a GPU.
cl_int get_device_ids(const Original& original, cl_platform_id platform, cl_device_type type, cl_uint room,
                      cl_device_id* devices, cl_uint* count);
/// As device_properties has it, otherwise as Oclgrind reports.
cl_int get_device_info(const Original& original, cl_device_id device, cl_device_info what, std::size_t room,
                       void* value, std::size_t* size);
cl_int get_kernel_work_group_info(const Original& original, cl_kernel kernel, cl_device_id device,
                                  cl_kernel_work_group_info what, std::size_t room, void* value, std::size_t* size);
cl_context create_context_from_type(const Original& original, const cl_context_properties* properties,
                                    cl_device_type type,
                                    void(CL_CALLBACK* notify)(const char*, const void*, std::size_t, void*),
                                    void* user_data, cl_int* error);

}  // namespace bankwise::opencl
