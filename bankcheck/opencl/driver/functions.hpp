// The OpenCL functions that bankcheck replaces, for programs that are linked with OpenCL (preloaded.cpp) and for those
// that load an ICD loader (driver.cpp). Both libraries contain the same replacements, which call Oclgrind's functions.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS  // clGetExtensionFunctionAddress
#include <CL/cl.h>
#include <CL/cl_icd.h>

// clang-format off
#define BANKWISE_REPLACED_FUNCTIONS(f) \
  f(clGetDeviceIDs) \
  f(clGetDeviceInfo) \
  f(clGetKernelWorkGroupInfo) \
  f(clCreateContextFromType) \
  f(clCreateProgramWithSource) \
  f(clEnqueueNDRangeKernel) \
  f(clBuildProgram) \
  f(clCompileProgram) \
  f(clLinkProgram) \
  f(clCreateKernel) \
  f(clCreateKernelsInProgram)
// clang-format on

namespace bankwise::opencl {

/// Oclgrind's functions.
struct Functions {
#define BANKWISE_MEMBER(name) decltype(&::name) name = nullptr;
  BANKWISE_REPLACED_FUNCTIONS(BANKWISE_MEMBER)
  BANKWISE_MEMBER(clGetProgramInfo)
  BANKWISE_MEMBER(clGetProgramBuildInfo)
#undef BANKWISE_MEMBER
};

const Functions& oclgrinds();

/// Appends an event to the launch log (launch_log.hpp). Cuts the line at 500 characters and at the end of the text's
/// first line.
void note(const char* event, const char* text);

}  // namespace bankwise::opencl

/// Before the definition of a replacement.
#define BANKWISE_REPLACEMENT extern "C" [[gnu::visibility("default")]] CL_API_ENTRY
