// SPDX-License-Identifier: MIT
#include <bankwise/gpu/cupti.hpp>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string>

#include <bankwise/support/library.hpp>

namespace bankwise::gpu {
namespace {

// why_no_counters() has their numbers.
static_assert(CUPTI_ERROR_HARDWARE_BUSY == 26 && CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED == 33 &&
              CUPTI_ERROR_INSUFFICIENT_PRIVILEGES == 35 && CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED == 39 &&
              CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES == 40 &&
              CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED == 41 && CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED == 43 &&
              CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED == 45);

Cupti find_all() {
  const std::string name = fmt::format("libcupti.so.{}", CUDART_VERSION / 1000);
  // The loader rarely searches the folder, which is not that of CUDA's other libraries. The build found one.
  const LoadedLibrary library{name.c_str(), BANKWISE_CUPTI_LIBRARY};
  if (!library) {
    throw Unsupported(fmt::format("{}; CUPTI comes with the CUDA Toolkit: name the folder in LD_LIBRARY_PATH",
                                  library.why_missing()));
  }
  Cupti functions;
#define BANKWISE_CUPTI_FIND(name)             \
  if (!library.find(functions.name, {#name})) \
    throw Unsupported("CUPTI here has no " #name "; it needs CUDA 12.6 or newer");
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
