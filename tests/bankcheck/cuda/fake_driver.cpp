// A stand-in for the CUDA driver, libcuda.so.1, as far as bankcheck asks it for a GPU. Environment: FAKE_DRIVER_INIT,
// what cuInit() returns, or "crash"; FAKE_DRIVER_DEVICES, how many there are.
#include <cstdlib>
#include <cstring>

namespace {

int number_in(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  const char* text = std::getenv("FAKE_DRIVER_INIT");
  if (text != nullptr && std::strcmp(text, "crash") == 0) std::abort();
  // bankcheck must not let another tool's library into the process that asks.
  return std::getenv("CUDA_INJECTION64_PATH") != nullptr ? 999 : number_in("FAKE_DRIVER_INIT", 0);
}

int cuDeviceGetCount(int* count) {
  *count = number_in("FAKE_DRIVER_DEVICES", 1);
  return 0;
}

int cuGetErrorString(int error, const char** text) {
  *text = error == 100 ? "fake: no device" : "fake: broken";
  return 0;
}

}  // extern "C"
