// Replaces NVML as in drivers before 535: one GPU at 0000:1b:00.0, whose reasons the test sets.
#include <cstring>

extern "C" {

unsigned long long fake_clock_reasons = 0;
int fake_code = 0;

int nvmlInit_v2() { return 0; }
const char* nvmlErrorString(int code) { return code == 6 ? "Not Found" : "GPU is lost"; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* pci, void** device) {
  if (std::strcmp(pci, "0000:1b:00.0") != 0) return 6;
  *device = &fake_clock_reasons;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  *reasons = *static_cast<unsigned long long*>(device);
  return fake_code;
}
}
