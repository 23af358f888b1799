// SPDX-License-Identifier: MIT
//
// The OpenCL driver that bankcheck opencl registers with the ICD loader. It passes every request on to Oclgrind's
// driver, which it loads so that the driver finds its own functions first (RTLD_DEEPBIND). The loader itself would bind
// the driver's calls to the Oclgrind that is preloaded into the program; its objects have no dispatch table, so
// clBuildProgram fails (Ubuntu 24.04).
//
// Environment variable:
//   BANKWISE_OCLGRIND_DRIVER  the path of Oclgrind's driver
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS  // clGetExtensionFunctionAddress
#include <CL/cl.h>
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace {

/// Finds a function of Oclgrind's driver; null if there is none.
template <class Function>
Function* oclgrinds(const char* name) {
  static void* const library = [] {
    const char* path = std::getenv("BANKWISE_OCLGRIND_DRIVER");
    return path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  }();
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

extern "C" {

// The two functions that an ICD loader looks up by name.
[[gnu::visibility("default")]] CL_API_ENTRY void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  if (void* function = oclgrinds<void>(name)) return function;
  const auto find = oclgrinds<decltype(clGetExtensionFunctionAddress)>("clGetExtensionFunctionAddress");
  return find == nullptr ? nullptr : find(name);
}

[[gnu::visibility("default")]] CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                                                 cl_platform_info what,
                                                                                 std::size_t size, void* value,
                                                                                 std::size_t* needed) {
  const auto get = oclgrinds<decltype(clGetPlatformInfo)>("clGetPlatformInfo");
  return get == nullptr ? CL_INVALID_PLATFORM : get(platform, what, size, value, needed);
}
}
