// The layer of `bankcheck opencl --measure`: the OpenCL loader puts it between the program and the program's own driver
// (OPENCL_LAYERS). It gives the driver other texts to build (exchange.hpp), has all queues profiled, and writes the
// time of each launch into a file of its process: lines "device <name>", "exchanged", "launch <nanoseconds> <kernel>",
// "lost <launches>" and, if the program ended in order, "end".
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS  // clCreateCommandQueue
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <bankwise/support/append.hpp>
#include <bankwise/support/watch_request.hpp>
#include "bankcheck/opencl/exchange.hpp"

namespace {

using bankwise::opencl::ExchangedTexts;

// Of CL/cl_layer.h, which older headers lack.
constexpr cl_uint layer_api_version = 0x4240, layer_name = 0x4241, layer_api_version_100 = 100;

cl_icd_dispatch next;  // the functions of what lies below
cl_icd_dispatch ours;

/// The answer to a query, a number or a handle; nothing if there is none.
template <class Value, class Object, class Parameter>
std::optional<Value> ask(cl_int(CL_API_CALL* get)(Object, Parameter, std::size_t, void*, std::size_t*),
                         std::type_identity_t<Object> object, std::type_identity_t<Parameter> parameter) {
  std::array<Value, 1> answer{};
  if (get(object, parameter, sizeof answer, answer.data(), nullptr) != CL_SUCCESS) return std::nullopt;
  return answer[0];
}

struct Launch {
  cl_event event;
  std::string kernel;
};

/// The launches of this process. Its functions may be called from any thread.
class Times {
 public:
  explicit Times(const std::string& folder) : file_(folder + '/' + std::to_string(getpid()) + ".times") {}

  void write(const std::string& lines) const {
    if (!lines.empty()) bankwise::support::append_to(file_.c_str(), lines);
  }

  /// Takes over one reference to the event.
  void add(Launch launch, cl_command_queue queue) {
    const std::lock_guard lock(mutex_);
    launches_.push_back(std::move(launch));
    write((queues_.insert(queue).second ? device_line(queue) : "") + take_ended());
  }

  /// Reads the times of launches that have ended.
  void collect() {
    const std::lock_guard lock(mutex_);
    write(take_ended());
  }

  /// The process ends. A launch that waits for an event of the program may never end.
  void finish() {
    using namespace std::chrono_literals;
    const auto until = std::chrono::steady_clock::now() + 2s;
    const std::lock_guard lock(mutex_);
    std::string lines = take_ended();
    for (; !launches_.empty() && std::chrono::steady_clock::now() < until; lines += take_ended()) {
      std::this_thread::sleep_for(1ms);
    }
    if (!launches_.empty()) lines += "lost " + std::to_string(launches_.size()) + '\n';
    write(lines + "end\n");
  }

 private:
  /// Launches of several queues end in any order: those behind one that has not ended wait for it here.
  std::string take_ended() {
    std::string lines;
    for (; !launches_.empty(); launches_.pop_front()) {
      const Launch& launch = launches_.front();
      const auto status = ask<cl_int>(next.clGetEventInfo, launch.event, CL_EVENT_COMMAND_EXECUTION_STATUS);
      if (status && *status > CL_COMPLETE) break;
      const auto start = ask<cl_ulong>(next.clGetEventProfilingInfo, launch.event, CL_PROFILING_COMMAND_START);
      const auto end = ask<cl_ulong>(next.clGetEventProfilingInfo, launch.event, CL_PROFILING_COMMAND_END);
      const bool is_known = status == CL_COMPLETE && start && end && *end >= *start;
      lines += is_known ? "launch " + std::to_string(*end - *start) + ' ' + launch.kernel + '\n' : "lost 1\n";
      next.clReleaseEvent(launch.event);
    }
    return lines;
  }

  static std::string device_line(cl_command_queue queue) {
    const auto device = ask<cl_device_id>(next.clGetCommandQueueInfo, queue, CL_QUEUE_DEVICE);
    char name[256] = "unknown";
    cl_device_type type = 0;
    if (device) {
      next.clGetDeviceInfo(*device, CL_DEVICE_NAME, sizeof name - 1, name, nullptr);
      type = ask<cl_device_type>(next.clGetDeviceInfo, *device, CL_DEVICE_TYPE).value_or(0);
    }
    return std::string("device ") + ((type & CL_DEVICE_TYPE_CPU) != 0 ? "cpu " : "gpu ") + name + '\n';
  }

  const std::string file_;
  std::mutex mutex_;
  std::deque<Launch> launches_;
  std::set<cl_command_queue> queues_;
};

// Never destroyed: the program may launch kernels in its last moments.
Times* times = nullptr;
const ExchangedTexts* texts = nullptr;

void at_exit(int /*status*/, void* /*unused*/) { times->finish(); }

std::string name_of(cl_kernel kernel) {
  char name[1024] = "";
  if (next.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name, nullptr) != CL_SUCCESS) return "?";
  return name;
}

cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char** strings,
                                      const std::size_t* lengths, cl_int* error) {
  const std::string* text = texts->in_place_of(count, strings, lengths);
  if (text == nullptr) return next.clCreateProgramWithSource(context, count, strings, lengths, error);
  times->write("exchanged\n");
  const char* string = text->c_str();
  const std::size_t length = text->size();
  return next.clCreateProgramWithSource(context, 1, &string, &length, error);
}

cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                          cl_command_queue_properties properties, cl_int* error) {
  return next.clCreateCommandQueue(context, device, properties | CL_QUEUE_PROFILING_ENABLE, error);
}

cl_command_queue CL_API_CALL create_queue_with(cl_context context, cl_device_id device,
                                               const cl_queue_properties* properties, cl_int* error) {
  std::vector<cl_queue_properties> list;
  bool has_properties = false;
  for (; properties != nullptr && *properties != 0; properties += 2) {
    const bool is_properties = properties[0] == CL_QUEUE_PROPERTIES;
    has_properties |= is_properties;
    const bool is_of_host = (properties[1] & CL_QUEUE_ON_DEVICE) == 0;
    list.push_back(properties[0]);
    list.push_back(properties[1] | (is_properties && is_of_host ? CL_QUEUE_PROFILING_ENABLE : 0));
  }
  if (!has_properties) list.insert(list.end(), {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE});
  list.push_back(0);
  return next.clCreateCommandQueueWithProperties(context, device, list.data(), error);
}

cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const std::size_t* offset, const std::size_t* global, const std::size_t* local,
                                  cl_uint events, const cl_event* wait_list, cl_event* event) {
  static const int registered = on_exit(at_exit, nullptr);  // late: it is called before the drivers' handlers
  (void)registered;
  cl_event own = nullptr;
  cl_event* const used = event == nullptr ? &own : event;
  const cl_int error =
      next.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, events, wait_list, used);
  if (error != CL_SUCCESS) return error;
  if (event != nullptr) next.clRetainEvent(*event);
  times->add({*used, name_of(kernel)}, queue);
  return error;
}

cl_int CL_API_CALL finish_queue(cl_command_queue queue) {
  const cl_int error = next.clFinish(queue);
  times->collect();
  return error;
}

}  // namespace

extern "C" {

// The two functions that the loader looks up by name.
[[gnu::visibility("default")]] CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_uint parameter, std::size_t size,
                                                                              void* value, std::size_t* needed) {
  constexpr char name[] = "bankcheck";
  const bool is_name = parameter == layer_name;
  if (!is_name && parameter != layer_api_version) return CL_INVALID_VALUE;
  const std::size_t bytes = is_name ? sizeof name : sizeof layer_api_version_100;
  if (value != nullptr && size < bytes) return CL_INVALID_VALUE;
  if (value != nullptr) {
    std::memcpy(value, is_name ? static_cast<const void*>(name) : &layer_api_version_100, bytes);
  }
  if (needed != nullptr) *needed = bytes;
  return CL_SUCCESS;
}

[[gnu::visibility("default")]] CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries,
                                                                           const cl_icd_dispatch* target,
                                                                           cl_uint* entries_returned,
                                                                           const cl_icd_dispatch** dispatch) {
  if (entries_returned == nullptr || target == nullptr || dispatch == nullptr) return CL_INVALID_VALUE;
  constexpr cl_uint known = sizeof(cl_icd_dispatch) / sizeof(void*);
  try {
    const auto request = bankwise::support::read_request<bankwise::support::OpenclTimeRequest>();
    times = new Times(request.folder);
    texts = new ExchangedTexts(request.texts);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bankcheck opencl: %s\n", error.what());
    return CL_INVALID_VALUE;
  }
  std::memcpy(&next, target, std::min<std::size_t>(entries, known) * sizeof(void*));
  ours = next;
  ours.clCreateProgramWithSource = create_program;
  ours.clCreateCommandQueue = create_queue;
  if (next.clCreateCommandQueueWithProperties != nullptr) ours.clCreateCommandQueueWithProperties = create_queue_with;
  ours.clEnqueueNDRangeKernel = enqueue_kernel;
  ours.clFinish = finish_queue;
  *entries_returned = std::min(entries, known);
  *dispatch = &ours;
  return CL_SUCCESS;
}
}
