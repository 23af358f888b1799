// The driver API: checks of its errors, and modules.
#pragma once

#include <cuda.h>

#include <string>

#include "common.cuh"

inline void check_driver(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", call, text == nullptr ? "?" : text);
  std::exit(9);
}
#define CHECK_DRIVER(call) check_driver(call, #call)

/// PTX or a cubin; the JIT compiler keeps PTX's line numbers if it is told to.
inline CUmodule load(const std::string& image, bool line_numbers) {
  CUjit_option options[]{CU_JIT_GENERATE_LINE_INFO};
  void* values[]{reinterpret_cast<void*>(1)};
  CUmodule module = nullptr;
  CHECK_DRIVER(cuModuleLoadDataEx(&module, image.c_str(), line_numbers ? 1 : 0, options, values));
  return module;
}

/// Launches a kernel that takes an output, waits and verifies.
inline void run(CUmodule module, const char* name, unsigned blocks) {
  CUfunction function = nullptr;
  CHECK_DRIVER(cuModuleGetFunction(&function, module, name));
  const Output out(blocks);
  unsigned* data = out.data;
  void* arguments[]{&data};
  CHECK_DRIVER(cuLaunchKernel(function, blocks, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  out.verify();
}
