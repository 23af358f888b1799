// The library of `bankcheck cuda`: the CUDA driver loads it into the program, since CUDA_INJECTION64_PATH names it,
// and calls InitializeInjection() before anything else. It counts accesses to shared memory with NVIDIA's Compute
// Sanitizer library, and records them in a folder that bankcheck reads. It does not change what the program does,
// except that a child of fork() skips the exit handlers that it inherits (at_exit() says why). If it cannot watch, it
// says why, in the record, otherwise on stderr.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include <bankwise/support/library.hpp>
#include "bankcheck/cuda/injection/watcher.hpp"

namespace bankwise::cuda {
namespace {

// Never destroyed: the program may launch kernels in its last moments.
Watcher* watcher = nullptr;

bool in_forked_child = false;  // and the parent had loaded this library

// The library calls back from within our own calls: adding the patches loads a module.
thread_local int calls_inside = 0;

// The launch that this thread is about to make has these: the launch callback does not tell.
thread_local std::uint32_t dynamic_bytes = 0;

struct InsideCall {
  InsideCall() { ++calls_inside; }
  InsideCall(const InsideCall&) = delete;
  InsideCall& operator=(const InsideCall&) = delete;
  ~InsideCall() { --calls_inside; }
};

template <typename Data>
const Data& as(const void* data) {
  return *static_cast<const Data*>(data);
}

void on_resource(Sanitizer_CallbackId id, const void* data) {
  if (id == SANITIZER_CBID_RESOURCE_MODULE_LOADED) {
    watcher->module_loaded(as<Sanitizer_ResourceModuleData>(data));
  } else if (id == SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING) {
    watcher->module_unloads(as<Sanitizer_ResourceModuleData>(data).module);
  } else if (id == SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    watcher->context_ends(as<Sanitizer_ResourceContextData>(data).context);
  }
}

void on_launch(Sanitizer_CallbackId id, const void* data) {
  const auto& launch = as<Sanitizer_LaunchData>(data);
  if (id == SANITIZER_CBID_LAUNCH_BEGIN) {
    watcher->launch_begins({.data = launch, .stream = launch.hStream, .dynamic_bytes = dynamic_bytes});
  } else if (id == SANITIZER_CBID_LAUNCH_END) {
    watcher->launch_ends();
  }
}

void on_graph(Sanitizer_CallbackId id, const void* data) {
  if (id == SANITIZER_CBID_GRAPHS_NODE_LAUNCH_BEGIN) {
    const auto& node = as<Sanitizer_GraphNodeLaunchData>(data);
    if (node.nodeType != CU_GRAPH_NODE_TYPE_KERNEL) return;
    watcher->launch_begins({.data = node.launchData,
                            .stream = node.launchData.hApiStream,
                            .counts = node.isGraphUpload == 0,
                            .in_graph = true});
  } else if (id == SANITIZER_CBID_GRAPHS_LAUNCH_END) {
    // Not the end of a node's launch: the graph's nodes enter the stream together.
    watcher->launch_ends();
  }
}

void on_synchronize(Sanitizer_CallbackId id, const void* data) {
  const auto& synchronized = as<Sanitizer_SynchronizeData>(data);
  if (id == SANITIZER_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED) {
    watcher->synchronized(synchronized.context, synchronized.hStream);
  } else if (id == SANITIZER_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED) {
    watcher->synchronized(synchronized.context, std::nullopt);
  }
}

// Ids of the driver's functions that launch: sanitizer_driver_cbid.h, by number, since their names differ between
// versions.
enum DriverCall : Sanitizer_CallbackId {
  launch_kernel = 307,
  launch_kernel_per_thread = 442,
  launch_cooperative = 477,
  launch_cooperative_per_thread = 478,
  launch_kernel_ex = 652,
  launch_kernel_ex_per_thread = 653,
};
constexpr DriverCall DRIVER_CALLS[] = {launch_kernel,      launch_kernel_per_thread,
                                       launch_cooperative, launch_cooperative_per_thread,
                                       launch_kernel_ex,   launch_kernel_ex_per_thread};

// The first parameters of cuLaunchKernel() and cuLaunchCooperativeKernel(), as the library packs them.
struct LaunchParameters {
  CUfunction function;
  unsigned grid[3], block[3], dynamic_bytes;
};

void on_driver_call(Sanitizer_CallbackId id, const void* data) {
  const auto& call = as<Sanitizer_CallbackData>(data);
  dynamic_bytes = 0;
  if (call.callbackSite != SANITIZER_API_ENTER || call.functionParams == nullptr) return;
  if (id == launch_kernel_ex || id == launch_kernel_ex_per_thread) {
    const auto* const config = as<const CUlaunchConfig*>(call.functionParams);
    dynamic_bytes = config == nullptr ? 0 : config->sharedMemBytes;
  } else {
    dynamic_bytes = as<LaunchParameters>(call.functionParams).dynamic_bytes;
  }
}

struct Domain {
  Sanitizer_CallbackDomain domain;
  void (*handler)(Sanitizer_CallbackId, const void*);
};
constexpr Domain DOMAINS[] = {
    {SANITIZER_CB_DOMAIN_DRIVER_API, on_driver_call},
    {SANITIZER_CB_DOMAIN_RESOURCE, on_resource},
    {SANITIZER_CB_DOMAIN_SYNCHRONIZE, on_synchronize},
    {SANITIZER_CB_DOMAIN_LAUNCH, on_launch},
    {SANITIZER_CB_DOMAIN_GRAPHS, on_graph},
};

constexpr Sanitizer_CallbackId RESOURCE_CALLBACKS[] = {SANITIZER_CBID_RESOURCE_MODULE_LOADED,
                                                       SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
                                                       SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_STARTING};

void SANITIZERAPI on_callback(void* /*userdata*/, Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id,
                              const void* data) {
  if (calls_inside > 0 || data == nullptr) return;
  const InsideCall inside;
  try {
    for (const Domain& known : DOMAINS) {
      if (known.domain == domain) known.handler(id, data);
    }
  } catch (const std::exception& error) {
    watcher->record().error(error.what());
  }
}

/// Loads the library at `path`, which stays loaded. Throws std::runtime_error with a sentence if it cannot be loaded or
/// lacks a function.
SanitizerApi load_sanitizer(const std::string& path) {
  const support::LoadedLibrary library{path.c_str()};
  if (!library) throw std::runtime_error("cannot load NVIDIA's Sanitizer library: " + library.why_missing());
  SanitizerApi api;
  const auto find = [&](auto& function, const char* symbol) {
    if (library.find(function, {symbol})) return;
    throw std::runtime_error(path + " has no " + symbol + ": it is no Sanitizer library, or too old");
  };
#define BANKWISE_FIND(member, symbol) find(api.member, #symbol);
  BANKWISE_SANITIZER_FUNCTIONS(BANKWISE_FIND)
#undef BANKWISE_FIND
  return api;
}

/// Empty, or what failed.
std::string subscribe(const SanitizerApi& api) {
  Sanitizer_SubscriberHandle subscriber = nullptr;
  if (const auto result = api.subscribe(&subscriber, on_callback, nullptr); result != SANITIZER_SUCCESS) {
    return failure(api, "sanitizerSubscribe", result);
  }
  auto worst = SANITIZER_SUCCESS;
  const auto enable = [&](SanitizerResult result) { worst = result == SANITIZER_SUCCESS ? worst : result; };
  for (const auto id : RESOURCE_CALLBACKS) {
    enable(api.enable_callback(1, subscriber, SANITIZER_CB_DOMAIN_RESOURCE, id));
  }
  for (const auto domain : {SANITIZER_CB_DOMAIN_SYNCHRONIZE, SANITIZER_CB_DOMAIN_LAUNCH, SANITIZER_CB_DOMAIN_GRAPHS}) {
    enable(api.enable_domain(1, subscriber, domain));
  }
  // Without these, the sizes of dynamic shared memory are missing, no more.
  for (const auto id : DRIVER_CALLS) api.enable_callback(1, subscriber, SANITIZER_CB_DOMAIN_DRIVER_API, id);
  return worst == SANITIZER_SUCCESS ? std::string() : failure(api, "enabling callbacks", worst);
}

/// The handler of std::exit(), whose argument is `status`.
void at_exit(int status, void* /*unused*/) {
  const InsideCall inside;
  watcher->finish();
  if (!in_forked_child) return;
  // NVIDIA's libraries were initialized before the fork. Their exit handlers hang in the child, as they do under
  // compute-sanitizer, or make the parent hang. So the child ends here, without the exit handlers that it inherited.
  std::fflush(nullptr);
  _exit(status);
}

void initialize() {
  const auto request = support::read_request<support::CudaRequest>();
  SanitizerApi api;
  std::string problem;
  try {
    api = load_sanitizer(request.sanitizer);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  auto* const started = new Watcher(request, api);
  started->record().start();
  watcher = started;
  if (problem.empty()) problem = subscribe(api);
  if (!problem.empty()) watcher->record().error(problem);
  on_exit(at_exit, nullptr);
  // A child of fork() has none of the parent's CUDA contexts, and gets a separate record if it is called at all.
  static const auto again = [request, api] {
    in_forked_child = true;
    watcher = new Watcher(request, api);
    on_exit(at_exit, nullptr);  // before all handlers that are registered already
  };
  pthread_atfork(nullptr, nullptr, [] { again(); });
}

}  // namespace
}  // namespace bankwise::cuda

/// Waits for the GPU, and ends the record before the process ends: for a program that asks for its own report (Python's
/// bankwise.watch()). Kernels that are launched later are not watched.
extern "C" __attribute__((visibility("default"))) void bankwise_finish_record() {
  const bankwise::cuda::InsideCall inside;
  if (bankwise::cuda::watcher != nullptr) bankwise::cuda::watcher->finish();
}

/// Called by the CUDA driver, in cuInit(). Returns 1, as CUPTI's injection libraries do, also if the program cannot be
/// watched: it goes on without.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  using bankwise::cuda::watcher;
  if (watcher != nullptr) return 1;
  try {
    bankwise::cuda::initialize();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bankcheck cuda: %s\n", error.what());
  }
  return 1;
}
