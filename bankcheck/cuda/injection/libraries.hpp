// The functions of NVIDIA's Compute Sanitizer library and of the CUDA driver that the injection library calls, found at
// run time.
#pragma once

#include <cuda.h>
#include <sanitizer.h>

#include <string>

namespace bankwise::cuda {

/// Member and symbol of each function.
#define BANKWISE_SANITIZER_FUNCTIONS(X)                            \
  X(add_patches, sanitizerAddPatches)                              \
  X(alloc, sanitizerAlloc)                                         \
  X(alloc_host, sanitizerAllocHost)                                \
  X(enable_callback, sanitizerEnableCallback)                      \
  X(enable_domain, sanitizerEnableDomain)                          \
  X(get_function_pc_and_size, sanitizerGetFunctionPcAndSize)       \
  X(get_result_string, sanitizerGetResultString)                   \
  X(get_stream_handle, sanitizerGetStreamHandle)                   \
  X(memcpy_device_to_host, sanitizerMemcpyDeviceToHost)            \
  X(memcpy_host_to_device_async, sanitizerMemcpyHostToDeviceAsync) \
  X(memset, sanitizerMemset)                                       \
  X(patch_instructions, sanitizerPatchInstructions)                \
  X(patch_module, sanitizerPatchModule)                            \
  X(set_launch_callback_data, sanitizerSetLaunchCallbackData)      \
  X(stream_synchronize, sanitizerStreamSynchronize)                \
  X(subscribe, sanitizerSubscribe)

struct SanitizerApi {
#define BANKWISE_MEMBER(member, symbol) decltype(&::symbol) member{};
  BANKWISE_SANITIZER_FUNCTIONS(BANKWISE_MEMBER)
#undef BANKWISE_MEMBER
};

/// "sanitizerAlloc failed: Out of memory". `call` names the function, and whatever else helps.
inline std::string failure(const SanitizerApi& api, const std::string& call, SanitizerResult result) {
  const char* text = nullptr;
  if (api.get_result_string(result, &text) != SANITIZER_SUCCESS || text == nullptr) text = "unknown error";
  return call + " failed: " + text;
}

// --- The CUDA driver that the process has loaded, never another one ---

/// What the record says of a device. Zeros and "unknown" if the driver does not tell.
struct DeviceFacts {
  int major = 0, minor = 0;  ///< compute capability
  std::string name = "unknown";
};

/// Reads constants of the driver, so it may be called in a callback of the Sanitizer library.
DeviceFacts device_facts(int device);

/// Waits for all work of the context. Empty, or a sentence if a kernel failed. Not for callbacks: the Sanitizer library
/// does not support calls of the driver there (its guide, "Callback API").
std::string wait_for_context(CUcontext context);

}  // namespace bankwise::cuda
