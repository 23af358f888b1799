// SPDX-License-Identifier: MIT
#include <bankwise/gpu/cupti.hpp>

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace bankwise::gpu {
namespace {

// why_no_counters() has their numbers.
static_assert(CUPTI_ERROR_HARDWARE_BUSY == 26 && CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED == 33 &&
              CUPTI_ERROR_INSUFFICIENT_PRIVILEGES == 35 && CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED == 39 &&
              CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES == 40 &&
              CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED == 41 && CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED == 43 &&
              CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED == 45);

/// Never unloaded: CUPTI leaves hooks in the driver.
void* load() {
  const std::string name = fmt::format("libcupti.so.{}", CUDART_VERSION / 1000);
  if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  const std::string why = dlerror();
  // The loader rarely searches the folder, which is not that of CUDA's other libraries. The build found one.
  if (void* library = dlopen(BANKWISE_CUPTI_LIBRARY, RTLD_NOW | RTLD_LOCAL)) return library;
  throw Unsupported(fmt::format("{}; CUPTI comes with the CUDA Toolkit: name the folder in LD_LIBRARY_PATH", why));
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw Unsupported(fmt::format("CUPTI here has no {}; it needs CUDA 12.6 or newer", name));
}

Cupti find_all() {
  void* library = load();
  Cupti functions;
#define BANKWISE_CUPTI_FIND(name) find(library, #name, functions.name);
  BANKWISE_CUPTI_FUNCTIONS(BANKWISE_CUPTI_FIND)
#undef BANKWISE_CUPTI_FIND
  return functions;
}

}  // namespace

const Cupti& cupti() {
  static const Cupti functions = find_all();
  return functions;
}

void check_cupti(CUptiResult code, std::string_view call) {
  if (code == CUPTI_SUCCESS) return;
  const char* name = nullptr;
  cupti().cuptiGetResultString(code, &name);
  throw Unsupported(why_no_counters(code, call, name != nullptr ? name : "an unknown error"));
}

}  // namespace bankwise::gpu
