// SPDX-License-Identifier: MIT
//
// Builds of programs, and kernels that Oclgrind cannot create.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <bankwise/support/watch_request.hpp>

#include "bankcheck/opencl/driver/functions.hpp"
#include "bankcheck/opencl/plugin/compiler_lock.hpp"
#include "bankcheck/opencl/plugin/launch_log.hpp"

namespace {

using bankwise::opencl::CompilerGuard;
using bankwise::opencl::oclgrinds;
using BuildCallback = void(CL_CALLBACK*)(cl_program, void*);

/// Copied before main(), because the program may clear its environment.
char log_path[4096];

__attribute__((constructor)) void copy_path() {
  const char* path = std::getenv(bankwise::support::launches_variable);
  if (path != nullptr && std::strlen(path) < sizeof log_path) std::memcpy(log_path, path, std::strlen(path) + 1);
}

/// Whether the source of a program that is built has this kernel.
bool has_kernel(cl_program program, const std::string& name) {
  const auto get = oclgrinds().clGetProgramInfo;
  std::size_t bytes = 0;
  if (get(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &bytes) != CL_SUCCESS) return false;
  std::string names(bytes, '\0');
  if (get(program, CL_PROGRAM_KERNEL_NAMES, bytes, names.data(), nullptr) != CL_SUCCESS) return false;
  names.resize(std::min(names.size(), names.find('\0')));
  return (';' + names + ';').find(';' + name + ';') != std::string::npos;
}

}  // namespace

void bankwise::opencl::note(const char* event, const char* text) {
  char line[512];
  const auto length = int(std::strcspn(text, "\n"));
  const int written = std::snprintf(line, 500, "%s %ld %.*s", event, long(getpid()), length, text);
  const auto end = std::size_t(written < 500 ? written : 499);
  line[end] = '\n';
  append_to(log_path[0] == '\0' ? nullptr : log_path, {line, end + 1});
}

BANKWISE_REPLACEMENT cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint devices, const cl_device_id* list,
                                                       const char* options, BuildCallback done, void* data) {
  const CompilerGuard guard;
  return oclgrinds().clBuildProgram(program, devices, list, options, done, data);
}

BANKWISE_REPLACEMENT cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint devices, const cl_device_id* list,
                                                         const char* options, cl_uint headers,
                                                         const cl_program* header_list, const char** names,
                                                         BuildCallback done, void* data) {
  const CompilerGuard guard;
  return oclgrinds().clCompileProgram(program, devices, list, options, headers, header_list, names, done, data);
}

BANKWISE_REPLACEMENT cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint devices, const cl_device_id* list,
                                                          const char* options, cl_uint inputs,
                                                          const cl_program* input_list, BuildCallback done, void* data,
                                                          cl_int* error) {
  const CompilerGuard guard;
  return oclgrinds().clLinkProgram(context, devices, list, options, inputs, input_list, done, data, error);
}

/// Oclgrind returns CL_INVALID_KERNEL_NAME for a kernel that it cannot create, too. It prints why, but the program may
/// redirect its stderr.
BANKWISE_REPLACEMENT cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char* name, cl_int* error) {
  const CompilerGuard guard;
  const cl_kernel kernel = oclgrinds().clCreateKernel(program, name, error);
  if (kernel == nullptr && name != nullptr && has_kernel(program, name)) {
    bankwise::opencl::note(bankwise::opencl::event::unable,
                           ("it cannot create the kernel " + std::string(name)).c_str());
  }
  return kernel;
}

BANKWISE_REPLACEMENT cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint room, cl_kernel* kernels,
                                                                 cl_uint* count) {
  const CompilerGuard guard;
  return oclgrinds().clCreateKernelsInProgram(program, room, kernels, count);
}
