#include "tests/bankcheck/cuda/injection/fake_sanitizer.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>

using bankwise::cuda::LaunchSlot;
using bankwise::cuda::PatternEntry;

namespace {

Sanitizer_CallbackFunc callback = nullptr;
const void* launch_data = nullptr;  // that was set for the launch in progress
std::atomic<bool> faulted = false;

// As the driver's: held during callbacks, and needed by every call that touches the device. A library that waits for
// another thread with it in hand hangs here, too.
std::recursive_mutex context_lock;
std::mutex log_lock, device_lock;

/// SUCCESS, or the error that the environment asks for.
SanitizerResult called(const char* name) {
  const std::lock_guard lock(log_lock);
  if (const char* path = std::getenv("FAKE_SANITIZER_LOG")) std::ofstream(path, std::ios::app) << name << '\n';
  const char* failing = std::getenv("FAKE_SANITIZER_FAIL");
  return failing != nullptr && std::strcmp(failing, name) == 0 ? SANITIZER_ERROR_OUT_OF_MEMORY : SANITIZER_SUCCESS;
}

SanitizerResult on_device(const char* name) {
  const SanitizerResult result = called(name);
  return faulted ? SANITIZER_ERROR_UNKNOWN : result;
}

SanitizerResult allocate(const char* name, void** memory, size_t bytes) {
  const std::lock_guard lock(context_lock);
  *memory = std::malloc(bytes);
  std::memset(*memory, 0xa5, bytes);  // never zero by chance
  return on_device(name);
}

void call_back(Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id, const void* data) {
  if (callback == nullptr) return;
  const std::lock_guard lock(context_lock);
  callback(nullptr, domain, id, data);
}

void call_back_for_module(Sanitizer_CallbackId id, CUcontext context, CUmodule module, const std::string& cubin) {
  Sanitizer_ResourceModuleData data{};
  data.context = context;
  data.module = module;
  data.cubinSize = cubin.size();
  data.pCubin = cubin.data();
  call_back(SANITIZER_CB_DOMAIN_RESOURCE, id, &data);
}

Sanitizer_LaunchData data_of(const fake::Launch& launch) {
  Sanitizer_LaunchData data{};
  data.context = launch.context;
  data.hStream = data.hApiStream = launch.stream;
  data.module = launch.module;
  data.function = launch.function;
  data.functionName = launch.name;
  data.gridDim_x = launch.grid[0];
  data.gridDim_y = launch.grid[1];
  data.gridDim_z = launch.grid[2];
  data.blockDim_x = launch.block[0];
  data.blockDim_y = launch.block[1];
  data.blockDim_z = launch.block[2];
  data.device = 3;
  return data;
}

LaunchSlot* launched() {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the API takes const data, and device code writes it
  return static_cast<LaunchSlot*>(const_cast<void*>(launch_data));
}

}  // namespace

extern "C" {

SanitizerResult sanitizerSubscribe(Sanitizer_SubscriberHandle* subscriber, Sanitizer_CallbackFunc function, void*) {
  *subscriber = fake::handle<Sanitizer_SubscriberHandle>(1);
  static const pid_t process = getpid();
  std::atexit([] {
    if (getpid() != process) pause();  // as the library does in a child of fork()
  });
  const SanitizerResult result = called("sanitizerSubscribe");
  if (result == SANITIZER_SUCCESS) callback = function;
  return result;
}
SanitizerResult sanitizerEnableCallback(uint32_t, Sanitizer_SubscriberHandle, Sanitizer_CallbackDomain,
                                        Sanitizer_CallbackId) {
  return called("sanitizerEnableCallback");
}
SanitizerResult sanitizerEnableDomain(uint32_t, Sanitizer_SubscriberHandle, Sanitizer_CallbackDomain) {
  return called("sanitizerEnableDomain");
}
SanitizerResult sanitizerAddPatches(const void* image, CUcontext context) {
  const SanitizerResult result = called(image == nullptr ? "no image" : "sanitizerAddPatches");
  // The patches are another module.
  call_back_for_module(SANITIZER_CBID_RESOURCE_MODULE_LOADED, context, fake::handle<CUmodule>(0xdead), "patches");
  return result;
}
SanitizerResult sanitizerPatchInstructions(const Sanitizer_InstructionId, CUmodule, const char*) {
  return called("sanitizerPatchInstructions");
}
SanitizerResult sanitizerPatchModule(CUmodule) { return called("sanitizerPatchModule"); }
// "third" begins behind the others of its module.
SanitizerResult sanitizerGetFunctionPcAndSize(CUmodule module, const char* name, uint64_t* pc, uint64_t* size) {
  *pc = fake::pc_of(module) + (std::strcmp(name, "third") == 0 ? 0x1000 : 0);
  *size = 0x800;
  return called("sanitizerGetFunctionPcAndSize");
}
SanitizerResult sanitizerGetResultString(SanitizerResult result, const char** text) {
  *text = result == SANITIZER_ERROR_OUT_OF_MEMORY ? "fake: out of memory" : "fake: unknown";
  return SANITIZER_SUCCESS;
}
SanitizerResult sanitizerAlloc(CUcontext, void** memory, size_t bytes) {
  return allocate("sanitizerAlloc", memory, bytes);
}
SanitizerResult sanitizerAllocHost(CUcontext, void** memory, size_t bytes) {
  return allocate("sanitizerAllocHost", memory, bytes);
}
SanitizerResult sanitizerMemset(void* memory, int value, size_t bytes, Sanitizer_StreamHandle) {
  const std::lock_guard lock(context_lock);
  if (!faulted) std::memset(memory, value, bytes);
  return on_device("sanitizerMemset");
}
SanitizerResult sanitizerMemcpyDeviceToHost(void* to, void* from, size_t bytes, Sanitizer_StreamHandle) {
  const std::lock_guard lock(context_lock);
  if (!faulted) std::memcpy(to, from, bytes);
  return on_device("sanitizerMemcpyDeviceToHost");
}
SanitizerResult sanitizerMemcpyHostToDeviceAsync(void* to, void* from, size_t bytes, Sanitizer_StreamHandle) {
  const std::lock_guard lock(context_lock);
  std::memcpy(to, from, bytes);
  return on_device("sanitizerMemcpyHostToDeviceAsync");
}
SanitizerResult sanitizerStreamSynchronize(Sanitizer_StreamHandle) {
  const std::lock_guard lock(context_lock);
  return on_device("sanitizerStreamSynchronize");
}
SanitizerResult sanitizerGetStreamHandle(CUcontext, CUstream, Sanitizer_StreamHandle* stream) {
  *stream = fake::handle<Sanitizer_StreamHandle>(0x5000);
  return called("sanitizerGetStreamHandle");
}
#ifndef FAKE_SANITIZER_IS_OLD
SanitizerResult sanitizerSetLaunchCallbackData(Sanitizer_LaunchHandle, CUfunction, Sanitizer_StreamHandle,
                                               const void* data) {
  launch_data = data;
  return called("sanitizerSetLaunchCallbackData");
}
#endif

// The driver.
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int bytes, CUdevice) {
  std::strncpy(name, "Fake GPU", std::size_t(bytes));
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent_v2(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxPopCurrent_v2(CUcontext*) { return CUDA_SUCCESS; }
CUresult cuCtxSynchronize() { return faulted ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS; }
CUresult cuGetErrorName(CUresult, const char** name) {
  *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
  return CUDA_SUCCESS;
}

}  // extern "C"

namespace fake {

void load_module(CUcontext context, CUmodule module, const std::string& cubin) {
  call_back_for_module(SANITIZER_CBID_RESOURCE_MODULE_LOADED, context, module, cubin);
}

void unload_module(CUcontext context, CUmodule module) {
  call_back_for_module(SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING, context, module, "");
}

void destroy_context(CUcontext context) {
  Sanitizer_ResourceContextData data{};
  data.context = context;
  call_back(SANITIZER_CB_DOMAIN_RESOURCE, SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, &data);
}

LaunchSlot* launch(const Launch& launch) {
  const std::lock_guard lock(context_lock);
  struct {
    CUfunction function;
    unsigned sizes[6], dynamic_bytes;
  } parameters{launch.function, {}, launch.dynamic_bytes};
  Sanitizer_CallbackData call{};
  call.callbackSite = SANITIZER_API_ENTER;
  call.functionParams = &parameters;
  constexpr Sanitizer_CallbackId LAUNCH_KERNEL = 307;
  call_back(SANITIZER_CB_DOMAIN_DRIVER_API, LAUNCH_KERNEL, &call);
  launch_data = nullptr;
  const Sanitizer_LaunchData data = data_of(launch);
  call_back(SANITIZER_CB_DOMAIN_LAUNCH, SANITIZER_CBID_LAUNCH_BEGIN, &data);
  if (launch.end) call_back(SANITIZER_CB_DOMAIN_LAUNCH, SANITIZER_CBID_LAUNCH_END, &data);
  call.callbackSite = SANITIZER_API_EXIT;
  call_back(SANITIZER_CB_DOMAIN_DRIVER_API, LAUNCH_KERNEL, &call);
  return launched();
}

LaunchSlot* launch_in_graph(const Launch& launch, bool upload) {
  const std::lock_guard lock(context_lock);
  launch_data = nullptr;
  Sanitizer_GraphNodeLaunchData node{};
  node.nodeType = CU_GRAPH_NODE_TYPE_KERNEL;
  node.launchData = data_of(launch);
  node.isGraphUpload = upload ? 1 : 0;
  call_back(SANITIZER_CB_DOMAIN_GRAPHS, SANITIZER_CBID_GRAPHS_NODE_LAUNCH_BEGIN, &node);
  Sanitizer_GraphLaunchData graph{};
  graph.context = launch.context;
  call_back(SANITIZER_CB_DOMAIN_GRAPHS, SANITIZER_CBID_GRAPHS_LAUNCH_END, &graph);
  return launched();
}

namespace {

/// Counts a key in its slot, with a new entry if there is room. Returns whether it is counted, and the new entry.
std::pair<bool, PatternEntry*> count(LaunchSlot* launch, std::uint64_t key, std::uint64_t times, std::uint32_t& used,
                                     std::uint32_t capacity, std::uint32_t first) {
  auto* const keys = handle<std::uint64_t*>(launch->header + sizeof(bankwise::cuda::TableHeader));
  auto* const counts = keys + launch->slots;
  auto slot = std::uint32_t((key >> 32) * launch->slots >> 32);
  while (keys[slot] != 0 && keys[slot] != key) slot = (slot + 1) % launch->slots;
  PatternEntry* entry = nullptr;
  if (keys[slot] == 0) {
    if (used >= capacity) return {false, nullptr};
    keys[slot] = key;
    entry = &handle<PatternEntry*>(launch->entries)[first + used++];
    entry->slot = slot;
  }
  // Spread over the shards, as multiprocessors do.
  counts[slot] += times / 2;
  counts[std::uint64_t(bankwise::cuda::COUNT_SHARDS - 1) * launch->slots + slot] += times - times / 2;
  return {true, entry};
}

}  // namespace

void access(LaunchSlot* launch, std::uint64_t pc, std::uint32_t what, std::uint32_t mask,
            const std::vector<std::uint32_t>& addresses, std::uint64_t times) {
  if (launch == nullptr || launch->slots == 0 || launch->threshold == 0) return;
  const std::lock_guard lock(device_lock);
  std::uint64_t key = pc * 31 + what * 0x9e3779b97f4a7c15 + mask + launch->kernel * 0xd1b54a32d192ed03;
  const std::uint64_t cost_key = ~key | 1;
  for (const std::uint32_t address : addresses) key = key * 0xaef17502108ef2d9 + address;
  auto* const header = handle<bankwise::cuda::TableHeader*>(launch->header);
  const auto [counted, entry] = count(launch, key | 1, times, header->used, launch->capacity, 0);
  if (entry != nullptr) {
    *entry = {.pc = pc, .slot = entry->slot, .kernel = launch->kernel, .mask = mask, .what = what, .addresses = {}};
    for (unsigned lane = 0, next = 0; lane < 32; ++lane) {
      // A cost has none.
      if ((mask >> lane & 1) != 0 && !addresses.empty()) entry->addresses[lane] = addresses.at(next++);
    }
    *handle<std::uint32_t*>(launch->fill) = header->used;
  }
  if (counted) return;
  // All lanes are in one bank.
  const auto lanes = std::uint32_t(addresses.size());
  const auto [costed, cost] =
      count(launch, cost_key, times, header->costs_used, bankwise::cuda::cost_entries(launch->capacity),
            launch->capacity + bankwise::cuda::SPARE_ENTRIES);
  if (cost != nullptr) {
    *cost = {.pc = pc,
             .slot = cost->slot,
             .kernel = launch->kernel,
             .mask = bankwise::cuda::pack_cost({lanes, 1, lanes, lanes}),
             .what = what | bankwise::cuda::COSTED,
             .addresses = {}};
  }
  using Source = bankwise::cuda::AccessSource;
  const bool is_shared = what >> 24 < std::uint32_t(Source::global);
  if (!costed) (is_shared ? launch->lost : launch->global_lost) += times;
}

void synchronize_stream(CUcontext context, Sanitizer_StreamHandle stream) {
  Sanitizer_SynchronizeData data{};
  data.context = context;
  data.hStream = stream;
  call_back(SANITIZER_CB_DOMAIN_SYNCHRONIZE, SANITIZER_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, &data);
}

void synchronize_context(CUcontext context) {
  Sanitizer_SynchronizeData data{};
  data.context = context;
  call_back(SANITIZER_CB_DOMAIN_SYNCHRONIZE, SANITIZER_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED, &data);
}

void fault() { faulted = true; }

std::uint64_t pc_of(CUmodule module) { return 0x7f0000000000 + (reinterpret_cast<std::uintptr_t>(module) << 16); }

}  // namespace fake
