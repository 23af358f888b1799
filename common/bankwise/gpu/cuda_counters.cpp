// CUPTI's range profiler, with a user range that the program repeats until every counter has been read. CUPTI's own
// kernel replay would save and restore all memory for each kernel.
#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/gpu/cuda_api.hpp>
#include <bankwise/gpu/error.hpp>
#include <bankwise/gpu/session.hpp>
#include <bankwise/support/library.hpp>

namespace bankwise::gpu {
namespace {

// CUPTI's functions are loaded on demand. A program linked with it would not start on machines with a driver but no
// toolkit, and programs that read no counters do not pay for loading it.
// clang-format off
#define BANKWISE_CUPTI_FUNCTIONS(X) \
  X(cuptiGetResultString) X(cuptiDeviceGetChipName) X(cuptiProfilerInitialize) X(cuptiProfilerDeInitialize) \
  X(cuptiProfilerGetCounterAvailability) X(cuptiProfilerHostInitialize) X(cuptiProfilerHostDeinitialize) \
  X(cuptiProfilerHostConfigAddMetrics) X(cuptiProfilerHostGetConfigImageSize) X(cuptiProfilerHostGetConfigImage) \
  X(cuptiProfilerHostEvaluateToGpuValues) X(cuptiRangeProfilerEnable) X(cuptiRangeProfilerDisable) \
  X(cuptiRangeProfilerGetCounterDataSize) X(cuptiRangeProfilerCounterDataImageInitialize) \
  X(cuptiRangeProfilerSetConfig) X(cuptiRangeProfilerStart) X(cuptiRangeProfilerPushRange) \
  X(cuptiRangeProfilerPopRange) X(cuptiRangeProfilerStop) X(cuptiRangeProfilerDecodeData)
// clang-format on

/// CUPTI's functions, by their names.
struct Cupti {
#define BANKWISE_CUPTI_MEMBER(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses): a name
  BANKWISE_CUPTI_FUNCTIONS(BANKWISE_CUPTI_MEMBER)
#undef BANKWISE_CUPTI_MEMBER
};

// why_no_counters() has their numbers.
static_assert(CUPTI_ERROR_HARDWARE_BUSY == 26 && CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED == 33 &&
              CUPTI_ERROR_INSUFFICIENT_PRIVILEGES == 35 && CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED == 39 &&
              CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES == 40 &&
              CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED == 41 && CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED == 43 &&
              CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED == 45);

/// Error: Unsupported if CUPTI is missing, or too old.
Cupti find_all() {
  const std::string name = fmt::format("libcupti.so.{}", CUDART_VERSION / 1000);
  // The loader rarely searches the folder, which is not that of CUDA's other libraries. The build found one.
  const support::LoadedLibrary library{name.c_str(), BANKWISE_CUPTI_LIBRARY};
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

const Cupti& cupti() {
  static const Cupti functions = find_all();
  return functions;
}

/// Throws Unsupported unless the call succeeded: counters are optional, so no failure to read them is an error.
void check_cupti(CUptiResult code, std::string_view call) {
  if (code == CUPTI_SUCCESS) return;
  const char* name = nullptr;
  cupti().cuptiGetResultString(code, &name);
  throw Unsupported(why_no_counters(code, call, name != nullptr ? name : "an unknown error"));
}

/// Calls a function, and returns its parameters with what it has written to them. Error: as check_cupti().
template <class Parameters>
Parameters call_cupti(CUptiResult (*function)(Parameters*), Parameters parameters, std::string_view name) {
  check_cupti(function(&parameters), name);
  return parameters;
}

/// A function's parameters: zero except for the fields that are given and the size, by which CUPTI knows the version.
#define BANKWISE_CUPTI_PARAMETERS(Type, ...) \
  Type { .structSize = Type##_STRUCT_SIZE, __VA_ARGS__ }
#define BANKWISE_CUPTI(function, Type, ...) \
  call_cupti(cupti().function, BANKWISE_CUPTI_PARAMETERS(Type, __VA_ARGS__), #function)

struct Metric {
  const char* name;  // as in Nsight Compute
  Counters::Count Counters::*count;
};
constexpr Metric of_the_device[]{
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", &Counters::shared_load_passes},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", &Counters::shared_load_conflicts},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", &Counters::shared_store_passes},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", &Counters::shared_store_conflicts},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", &Counters::shared_atomic_passes},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum", &Counters::shared_atomic_conflicts},
    {"l1tex__data_bank_conflicts_type_arbitration.sum", &Counters::arbitration_conflicts},
    {"smsp__inst_executed.sum", &Counters::warp_instructions},
    {"smsp__thread_inst_executed.sum", &Counters::lane_instructions},
    {"dram__bytes_read.sum", &Counters::dram_read_bytes},
    {"dram__bytes_write.sum", &Counters::dram_write_bytes},
};
constexpr Metric per_instruction[]{
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", &Counters::shared_load_passes},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", &Counters::shared_store_passes},
};
constexpr Metric per_atomic[]{
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", &Counters::shared_atomic_passes},
};
/// Counted separately: more than two at a time are counted less exactly.
constexpr std::span<const Metric> sets_per_instruction[]{per_instruction, per_atomic};
constexpr unsigned max_replays = 64;  // two are usual

/// For destructors.
void log_cupti(CUptiResult code, std::string_view call) noexcept {
  const char* name = "";
  if (code != CUPTI_SUCCESS) log_failure(call, cupti().cuptiGetResultString(code, &name) == CUPTI_SUCCESS ? name : "");
}

/// Objects whose cleanup is a call with that object. They are cleaned up in reverse order.
class Profiler {
 public:
  Profiler() { BANKWISE_CUPTI(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params, .pPriv = nullptr); }
  ~Profiler() {
    auto parameters = BANKWISE_CUPTI_PARAMETERS(CUpti_Profiler_DeInitialize_Params, .pPriv = nullptr);
    log_cupti(cupti().cuptiProfilerDeInitialize(&parameters), "cuptiProfilerDeInitialize");
  }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
};

struct EndHost {
  void operator()(CUpti_Profiler_Host_Object* host) const noexcept {
    auto parameters = BANKWISE_CUPTI_PARAMETERS(CUpti_Profiler_Host_Deinitialize_Params, .pHostObject = host);
    log_cupti(cupti().cuptiProfilerHostDeinitialize(&parameters), "cuptiProfilerHostDeinitialize");
  }
};
struct DisableRanges {
  void operator()(CUpti_RangeProfiler_Object* ranges) const noexcept {
    auto parameters = BANKWISE_CUPTI_PARAMETERS(CUpti_RangeProfiler_Disable_Params, .pRangeProfilerObject = ranges);
    log_cupti(cupti().cuptiRangeProfilerDisable(&parameters), "cuptiRangeProfilerDisable");
  }
};
using Host = std::unique_ptr<CUpti_Profiler_Host_Object, EndHost>;
using Ranges = std::unique_ptr<CUpti_RangeProfiler_Object, DisableRanges>;
using Image = std::vector<std::uint8_t>;

CUcontext current_context() {
  void* const function = driver_function("cuCtxGetCurrent", 4000);
  CUcontext context = nullptr;
  if (function == nullptr || reinterpret_cast<CUresult (*)(CUcontext*)>(function)(&context) != CUDA_SUCCESS ||
      context == nullptr) {
    throw Unsupported("the driver shows no context to count in");
  }
  return context;
}

/// The counters that this GPU has available.
Image availability(CUcontext context) {
  const auto ask = [&](std::size_t bytes, std::uint8_t* image) {
    return BANKWISE_CUPTI(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params,
                          .ctx = context, .counterAvailabilityImageSize = bytes, .pCounterAvailabilityImage = image)
        .counterAvailabilityImageSize;
  };
  Image image(ask(0, nullptr));
  ask(image.size(), image.data());
  return image;
}

Host make_host(const Image& available) {
  int device = 0;
  BANKWISE_CUDA(cudaGetDevice(&device));
  const auto chip =
      BANKWISE_CUPTI(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params, .deviceIndex = std::size_t(device));
  return Host(BANKWISE_CUPTI(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize_Params,
                             .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER, .pChipName = chip.pChipName,
                             .pCounterAvailabilityImage = available.data())
                  .pHostObject);
}

/// Requests the metrics one by one, because some GPUs lack some of them. Returns those that exist.
std::vector<const Metric*> add_metrics(const Host& host, std::span<const Metric> metrics) {
  std::vector<const Metric*> known;
  for (const Metric& metric : metrics) {
    const char* name = metric.name;
    auto parameters = BANKWISE_CUPTI_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics_Params, .pHostObject = host.get(),
                                                .ppMetricNames = &name, .numMetrics = 1);
    if (cupti().cuptiProfilerHostConfigAddMetrics(&parameters) == CUPTI_SUCCESS) known.push_back(&metric);
  }
  return known;
}

Image config_image(const Host& host) {
  const auto size = BANKWISE_CUPTI(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params,
                                   .pHostObject = host.get());
  Image image(size.configImageSize);
  BANKWISE_CUPTI(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params, .pHostObject = host.get(),
                 .configImageSize = image.size(), .pConfigImage = image.data());
  return image;
}

/// The image that receives the counters of one range.
Image data_image(const Ranges& ranges, std::vector<const char*> names) {
  const auto size = BANKWISE_CUPTI(cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params,
                                   .pRangeProfilerObject = ranges.get(), .pMetricNames = names.data(),
                                   .numMetrics = names.size(), .maxNumOfRanges = 1, .maxNumRangeTreeNodes = 1);
  Image image(size.counterDataSize);
  BANKWISE_CUPTI(cuptiRangeProfilerCounterDataImageInitialize, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
                 .pRangeProfilerObject = ranges.get(), .counterDataSize = image.size(), .pCounterData = image.data());
  return image;
}

/// One run. True if it was the last one needed.
bool run_once(const Ranges& ranges, const std::function<void()>& run) {
  CUpti_RangeProfiler_Object* const object = ranges.get();
  BANKWISE_CUPTI(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start_Params, .pRangeProfilerObject = object);
  BANKWISE_CUPTI(cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange_Params, .pRangeProfilerObject = object,
                 .pRangeName = "job");
  run();
  BANKWISE_CUPTI(cuptiRangeProfilerPopRange, CUpti_RangeProfiler_PopRange_Params, .pRangeProfilerObject = object);
  return BANKWISE_CUPTI(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop_Params, .pRangeProfilerObject = object)
             .isAllPassSubmitted != 0;
}

std::vector<double> values(const Host& host, const Image& data, std::vector<const char*> names) {
  std::vector<double> values(names.size());
  BANKWISE_CUPTI(cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
                 .pHostObject = host.get(), .pCounterDataImage = data.data(), .counterDataImageSize = data.size(),
                 .ppMetricNames = names.data(), .numMetrics = names.size(), .pMetricValues = values.data());
  return values;
}

struct CountedRun {
  const std::function<void()>&before, &run, &wait;
};

void count_set(CUcontext context, const Image& available, std::span<const Metric> metrics, const CountedRun& job,
               Counters& counters) {
  const Host host = make_host(available);
  const auto known = add_metrics(host, metrics);
  if (known.empty()) return;
  std::vector<const char*> names;
  names.reserve(known.size());
  for (const Metric* metric : known) names.push_back(metric->name);
  const Image config = config_image(host);
  Image data;  // like `config`, it must live until the profiler is disabled
  {
    const Ranges ranges(BANKWISE_CUPTI(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable_Params, .ctx = context)
                            .pRangeProfilerObject);
    data = data_image(ranges, names);
    BANKWISE_CUPTI(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig_Params,
                   .pRangeProfilerObject = ranges.get(), .configSize = config.size(), .pConfig = config.data(),
                   .counterDataImageSize = data.size(), .pCounterDataImage = data.data(), .range = CUPTI_UserRange,
                   .replayMode = CUPTI_UserReplay, .maxRangesPerPass = 1, .numNestingLevels = 1, .minNestingLevel = 1,
                   .targetNestingLevel = 1);
    unsigned replays = 0;
    for (bool complete = false; !complete; ++replays) {
      if (replays == max_replays) throw Unsupported("CUPTI does not finish counting");
      job.before();
      job.wait();
      complete = run_once(ranges, [&] {
        job.run();
        job.wait();
      });
    }
    counters.replays += replays;
    const auto decoded = BANKWISE_CUPTI(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData_Params,
                                        .pRangeProfilerObject = ranges.get());
    if (decoded.numOfRangeDropped > 0) throw Unsupported("CUPTI dropped what it had counted");
  }
  const auto counted = values(host, data, names);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (std::isfinite(counted[i])) counters.*known[i]->count = std::uint64_t(std::llround(counted[i]));
  }
}

}  // namespace

Counters count_on_cuda(const std::function<void()>& before, const std::function<void()>& run,
                       const std::function<void()>& wait) {
  (void)cupti();
  CUcontext context = current_context();
  const Profiler profiler;
  const Image available = availability(context);
  Counters pipe, instructions;
  count_set(context, available, of_the_device, {before, run, wait}, pipe);
  if (pipe.replays == 0) throw Unsupported("CUPTI knows none of the counters on this GPU");
  for (const auto metrics : sets_per_instruction) {
    count_set(context, available, metrics, {before, run, wait}, instructions);
  }
  return without_other_traffic(pipe, instructions);
}

}  // namespace bankwise::gpu
