// The OpenCL driver that bankcheck opencl registers with the ICD loader. It passes every request on to Oclgrind's
// driver, which it loads so that the driver finds its own functions first (RTLD_DEEPBIND). The loader itself would bind
// the driver's calls to the Oclgrind that is preloaded into the program; its objects have no dispatch table, so
// clBuildProgram fails (Ubuntu 24.04).
#include <dlfcn.h>

#include <cstring>
#include <mutex>
#include <string>

#include <bankwise/support/watch_request.hpp>

#include "bankcheck/opencl/driver/functions.hpp"

namespace {

using bankwise::opencl::Functions;

/// Finds a function of Oclgrind's driver; null if there is none.
template <class Function>
Function* in_oclgrind(const char* name) {
  static void* const library = [] {
    const std::string path = bankwise::support::read_request<bankwise::support::OpenclRequest>().oclgrind_driver;
    return path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  }();
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

Functions functions;

/// Every object of the driver begins with a pointer to its dispatch table, in which the loader finds the functions.
void replace_functions(cl_platform_id platform) {
  auto& table = **reinterpret_cast<cl_icd_dispatch**>(platform);
  functions.clGetProgramInfo = table.clGetProgramInfo;
  functions.clGetProgramBuildInfo = table.clGetProgramBuildInfo;
#define BANKWISE_REPLACE(name) \
  functions.name = table.name; \
  table.name = ::name;
  BANKWISE_REPLACED_FUNCTIONS(BANKWISE_REPLACE)
#undef BANKWISE_REPLACE
}

cl_int CL_API_CALL platform_ids(cl_uint room, cl_platform_id* platforms, cl_uint* count) {
  const auto get = in_oclgrind<decltype(clGetPlatformIDs)>("clIcdGetPlatformIDsKHR");
  if (get == nullptr) return CL_INVALID_PLATFORM;
  cl_platform_id platform = nullptr;
  static std::once_flag once;
  if (get(1, &platform, nullptr) == CL_SUCCESS) std::call_once(once, replace_functions, platform);
  return get(room, platforms, count);
}

}  // namespace

const Functions& bankwise::opencl::oclgrinds() { return functions; }

extern "C" {

// The two functions that an ICD loader looks up by name.
[[gnu::visibility("default")]] CL_API_ENTRY void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0) return reinterpret_cast<void*>(platform_ids);
  if (void* function = in_oclgrind<void>(name)) return function;
  const auto find = in_oclgrind<decltype(clGetExtensionFunctionAddress)>("clGetExtensionFunctionAddress");
  return find == nullptr ? nullptr : find(name);
}

[[gnu::visibility("default")]] CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                                                 cl_platform_info parameter,
                                                                                 std::size_t size, void* value,
                                                                                 std::size_t* needed) {
  const auto get = in_oclgrind<decltype(clGetPlatformInfo)>("clGetPlatformInfo");
  return get == nullptr ? CL_INVALID_PLATFORM : get(platform, parameter, size, value, needed);
}
}
