// The only file that includes opencl.hpp, with the settings that all its users must share.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>

#include <string>

#include <bankwise/gpu/error.hpp>

namespace bankwise::gpu {

/// "CL_INVALID_VALUE"; the number itself for a code that OpenCL 1.2 does not know.
std::string opencl_error_name(cl_int code);

/// Runs `body`; throws an OpenCL error as gpu::Error with the caller's file and line.
template <class Body>
auto opencl(Body&& body, CallSite where = CallSite::here()) {
  try {
    return body();
  } catch (const cl::Error& error) {
    throw Error(error.what(), opencl_error_name(error.err()), where);
  }
}

}  // namespace bankwise::gpu
