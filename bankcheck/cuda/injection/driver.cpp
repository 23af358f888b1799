#include <dlfcn.h>

#include "bankcheck/cuda/injection/libraries.hpp"

namespace bankwise::cuda {
namespace {

template <typename Function>
Function* driver_function(const char* name) {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  void* address = dlsym(driver != nullptr ? driver : RTLD_DEFAULT, name);
  if (driver != nullptr) dlclose(driver);  // NOLOAD has counted one user more
  return reinterpret_cast<Function*>(address);
}

}  // namespace

DeviceFacts device_facts(int device) {
  DeviceFacts facts;
  if (const auto read = driver_function<CUresult(int*, CUdevice_attribute, CUdevice)>("cuDeviceGetAttribute")) {
    read(&facts.major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    read(&facts.minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  }
  char text[256] = "";
  if (const auto read = driver_function<CUresult(char*, int, CUdevice)>("cuDeviceGetName")) {
    if (read(text, sizeof(text), device) == CUDA_SUCCESS) facts.name = text;
  }
  return facts;
}

std::string wait_for_context(CUcontext context) {
  // With the version suffixes that cuda.h gives to these names.
  const auto push = driver_function<CUresult(CUcontext)>("cuCtxPushCurrent_v2");
  const auto pop = driver_function<CUresult(CUcontext*)>("cuCtxPopCurrent_v2");
  const auto synchronize = driver_function<CUresult()>("cuCtxSynchronize");
  const auto name = driver_function<CUresult(CUresult, const char**)>("cuGetErrorName");
  if (push == nullptr || pop == nullptr || synchronize == nullptr) return "the CUDA driver lacks functions";
  CUresult result = push(context);
  if (result == CUDA_SUCCESS) {
    result = synchronize();
    pop(&context);
  }
  if (result == CUDA_SUCCESS) return {};
  const char* text = nullptr;
  if (name == nullptr || name(result, &text) != CUDA_SUCCESS || text == nullptr) text = "an unknown error";
  return std::string("the program's CUDA context ended with ") + text;
}

}  // namespace bankwise::cuda
