// The functions of OpenCL that bankcheck replaces. The first make Oclgrind's device a GPU: Oclgrind calls it a CPU, a
// GPU and an accelerator with one compute unit, and libraries then choose their code for CPUs, which is not the code
// that a GPU runs.
#include "bankcheck/opencl/driver/functions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include <bankwise/support/watch_request.hpp>
#include "bankcheck/opencl/device_properties.hpp"
#include "bankcheck/opencl/exchange.hpp"
#include "bankcheck/opencl/plugin/launch_log.hpp"

namespace {

using bankwise::opencl::device_properties;
using bankwise::opencl::DeviceProperty;
using bankwise::opencl::oclgrinds;
using bankwise::opencl::property_of;

constexpr std::uint32_t number_of(std::string_view key) { return property_of(key)->query; }
static_assert(number_of("name") == CL_DEVICE_NAME && number_of("vendor") == CL_DEVICE_VENDOR &&
              number_of("vendor-id") == CL_DEVICE_VENDOR_ID && number_of("version") == CL_DEVICE_VERSION &&
              number_of("driver-version") == CL_DRIVER_VERSION && number_of("extensions") == CL_DEVICE_EXTENSIONS &&
              number_of("compute-units") == CL_DEVICE_MAX_COMPUTE_UNITS &&
              number_of("clock-mhz") == CL_DEVICE_MAX_CLOCK_FREQUENCY &&
              number_of("group-size") == CL_DEVICE_MAX_WORK_GROUP_SIZE &&
              number_of("cache-type") == CL_DEVICE_GLOBAL_MEM_CACHE_TYPE &&
              number_of("cache-line") == CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE &&
              number_of("cache-bytes") == CL_DEVICE_GLOBAL_MEM_CACHE_SIZE &&
              number_of("preferred-multiple") == CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);

/// The value of a key in the environment, otherwise the default.
std::string setting(const DeviceProperty& property) {
  static const auto& request = *new auto(bankwise::support::read_request<bankwise::support::OpenclRequest>());
  const std::string start = std::string(property.key) + '=';
  for (const std::string& line : request.device) {
    if (line.starts_with(start)) return line.substr(start.size());
  }
  return std::string(property.value);
}

/// An answer as OpenCL's queries give it: nothing is written if there is too little room.
cl_int answer(const void* bytes, std::size_t count, std::size_t room, void* value, std::size_t* size) {
  if (value != nullptr && room < count) return CL_INVALID_VALUE;
  if (value != nullptr) std::memcpy(value, bytes, count);
  if (size != nullptr) *size = count;
  return CL_SUCCESS;
}

/// The answer to a query; nothing if it is Oclgrind's to give.
std::optional<cl_int> own_answer(std::uint32_t query, std::size_t room, void* value, std::size_t* size) {
  const auto* const property = std::ranges::find(device_properties, query, &DeviceProperty::query);
  if (property == std::end(device_properties)) return std::nullopt;
  const std::string text = setting(*property);
  if (text.empty()) return std::nullopt;
  if (property->bytes == 0) return answer(text.c_str(), text.size() + 1, room, value, size);
  const std::uint64_t number = std::strtoull(text.c_str(), nullptr, 10);  // bankcheck has checked it
  return answer(&number, property->bytes, room, value, size);             // little-endian, as x86-64 is
}

/// Whether a type that a program asks for includes the GPU.
bool includes_gpu(cl_device_type type) { return (type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) != 0; }
bool is_other_type(cl_device_type type) {
  constexpr cl_device_type others = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
  const bool is_other = !includes_gpu(type) && (type & others) != 0;
  if (is_other) bankwise::opencl::note(bankwise::opencl::event::no_gpu, "");
  return is_other;
}

using GroupSize = std::array<std::size_t, 3>;

/// Whether the kernel's source sets the size of its groups.
bool requires_group_size(cl_kernel kernel) {
  GroupSize size{};
  const cl_int error = oclgrinds().clGetKernelWorkGroupInfo(kernel, nullptr, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                                            sizeof size, size.data(), nullptr);
  return error == CL_SUCCESS && size[0] != 0;
}

/// Groups of up to 256 work-items: the largest sizes that divide the global size, x first.
GroupSize usual_group(cl_uint dimensions, const std::size_t* global) {
  const std::string group_size = setting(*property_of("group-size"));
  std::size_t room = group_size.empty() ? 256 : std::min(256ULL, std::strtoull(group_size.c_str(), nullptr, 10));
  GroupSize size{1, 1, 1};
  for (cl_uint i = 0; i < dimensions; ++i) {
    size[i] = std::max<std::size_t>(1, std::min(room, global[i]));
    while (global[i] % size[i] != 0) --size[i];
    room /= size[i];
  }
  return size;
}

using bankwise::opencl::CompilerGuard;
using BuildCallback = void(CL_CALLBACK*)(cl_program, void*);

/// Copied before main(), because the program may clear its environment.
char log_path[4096];

__attribute__((constructor)) void copy_path() {
  const char* path = std::getenv(bankwise::support::launches_variable);
  if (path != nullptr && std::strlen(path) < sizeof log_path) std::memcpy(log_path, path, std::strlen(path) + 1);
}

/// The answer to a query for a text: `get(room, text, bytes)`; "" if there is none.
template <class Get>
std::string text_from(const Get& get) {
  std::size_t bytes = 0;
  if (get(0, nullptr, &bytes) != CL_SUCCESS) return "";
  std::string text(bytes, '\0');
  return get(bytes, text.data(), nullptr) == CL_SUCCESS ? text.c_str() : "";
}

/// Whether the source of a program that is built has this kernel.
bool has_kernel(cl_program program, const std::string& name) {
  const std::string names = text_from([&](std::size_t room, char* text, std::size_t* bytes) {
    return oclgrinds().clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, room, text, bytes);
  });
  return (';' + names + ';').find(';' + name + ';') != std::string::npos;
}

/// Notes the compiler's messages about a build that failed: many programs do not show them.
cl_int with_messages(cl_program program, cl_uint devices, const cl_device_id* list, cl_int result) {
  if (result == CL_SUCCESS) return result;
  std::array<cl_device_id, 16> known{devices > 0 && list != nullptr ? list[0] : nullptr};
  if (known[0] == nullptr)
    oclgrinds().clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof known, known.data(), nullptr);
  if (known[0] == nullptr) return result;
  std::istringstream log(text_from([&](std::size_t room, char* text, std::size_t* size) {
    return oclgrinds().clGetProgramBuildInfo(program, known[0], CL_PROGRAM_BUILD_LOG, room, text, size);
  }));
  std::string line;
  for (unsigned number = 0; number < 20 && std::getline(log, line); ++number) {
    bankwise::opencl::note(bankwise::opencl::event::build, line.c_str());
  }
  return result;
}

}  // namespace

BANKWISE_REPLACEMENT cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room,
                                                       cl_device_id* devices, cl_uint* count) {
  if (!is_other_type(type)) return oclgrinds().clGetDeviceIDs(platform, type, room, devices, count);
  if (count != nullptr) *count = 0;
  return CL_DEVICE_NOT_FOUND;
}

BANKWISE_REPLACEMENT cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info parameter, std::size_t room,
                                                        void* value, std::size_t* size) {
  const auto get = oclgrinds().clGetDeviceInfo;
  std::size_t ignored = 0;
  if (const cl_int error = get(device, parameter, 0, nullptr, &ignored); error != CL_SUCCESS) return error;
  constexpr cl_device_type gpu = CL_DEVICE_TYPE_GPU;
  if (parameter == CL_DEVICE_TYPE) return answer(&gpu, sizeof gpu, room, value, size);
  if (const auto own = own_answer(parameter, room, value, size)) return *own;
  return get(device, parameter, room, value, size);
}

BANKWISE_REPLACEMENT cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                                 cl_kernel_work_group_info parameter, std::size_t room,
                                                                 void* value, std::size_t* size) {
  const auto get = oclgrinds().clGetKernelWorkGroupInfo;
  std::size_t ignored = 0;
  if (const cl_int error = get(kernel, device, parameter, 0, nullptr, &ignored); error != CL_SUCCESS) return error;
  if (const auto own = own_answer(parameter, room, value, size)) return *own;
  return get(kernel, device, parameter, room, value, size);
}

BANKWISE_REPLACEMENT cl_context CL_API_CALL clCreateContextFromType(
    const cl_context_properties* properties, cl_device_type type,
    void(CL_CALLBACK* notify)(const char*, const void*, std::size_t, void*), void* user_data, cl_int* error) {
  if (!is_other_type(type)) {
    return oclgrinds().clCreateContextFromType(properties, type, notify, user_data, error);
  }
  if (error != nullptr) *error = CL_DEVICE_NOT_FOUND;
  return nullptr;
}

/// Builds another text if bankcheck measures layouts.
BANKWISE_REPLACEMENT cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count,
                                                                      const char** strings, const std::size_t* lengths,
                                                                      cl_int* error) {
  static const auto& texts =
      *new bankwise::opencl::ExchangedTexts(bankwise::support::read_request<bankwise::support::OpenclRequest>().texts);
  const std::string* text = texts.in_place_of(count, strings, lengths);
  if (text == nullptr) return oclgrinds().clCreateProgramWithSource(context, count, strings, lengths, error);
  const char* string = text->c_str();
  const std::size_t length = text->size();
  return oclgrinds().clCreateProgramWithSource(context, 1, &string, &length, error);
}

/// Without a local size Oclgrind runs groups of one work-item; GPUs choose larger ones.
BANKWISE_REPLACEMENT cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                               cl_uint dimensions, const std::size_t* offset,
                                                               const std::size_t* global, const std::size_t* local,
                                                               cl_uint events, const cl_event* wait_list,
                                                               cl_event* event) {
  GroupSize chosen{};
  if (local == nullptr && global != nullptr && dimensions >= 1 && dimensions <= 3 && !requires_group_size(kernel)) {
    chosen = usual_group(dimensions, global);
    local = chosen.data();
  }
  return oclgrinds().clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, events, wait_list, event);
}

void bankwise::opencl::note(const char* event, const char* text) {
  char line[512];
  const auto length = int(std::strcspn(text, "\n"));
  const int written = std::snprintf(line, 500, "%s %ld %.*s", event, long(getpid()), length, text);
  const auto end = std::size_t(written < 500 ? written : 499);
  line[end] = '\n';
  append_to(log_path[0] == '\0' ? nullptr : log_path, {line, end + 1});
}

// Builds of programs, and kernels that Oclgrind cannot create.

BANKWISE_REPLACEMENT cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint devices, const cl_device_id* list,
                                                       const char* options, BuildCallback done, void* data) {
  const CompilerGuard guard;
  return with_messages(program, devices, list, oclgrinds().clBuildProgram(program, devices, list, options, done, data));
}

BANKWISE_REPLACEMENT cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint devices, const cl_device_id* list,
                                                         const char* options, cl_uint headers,
                                                         const cl_program* header_list, const char** names,
                                                         BuildCallback done, void* data) {
  const CompilerGuard guard;
  return with_messages(
      program, devices, list,
      oclgrinds().clCompileProgram(program, devices, list, options, headers, header_list, names, done, data));
}

BANKWISE_REPLACEMENT cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint devices, const cl_device_id* list,
                                                          const char* options, cl_uint inputs,
                                                          const cl_program* input_list, BuildCallback done, void* data,
                                                          cl_int* error) {
  const CompilerGuard guard;
  return oclgrinds().clLinkProgram(context, devices, list, options, inputs, input_list, done, data, error);
}

/// Oclgrind returns CL_INVALID_KERNEL_NAME for a kernel that it cannot create, too. It prints why, but the program may
/// redirect its stderr.
BANKWISE_REPLACEMENT cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char* name, cl_int* error) {
  const CompilerGuard guard;
  const cl_kernel kernel = oclgrinds().clCreateKernel(program, name, error);
  if (kernel == nullptr && name != nullptr && has_kernel(program, name)) {
    bankwise::opencl::note(bankwise::opencl::event::unable,
                           ("it cannot create the kernel " + std::string(name)).c_str());
  }
  return kernel;
}

BANKWISE_REPLACEMENT cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint room, cl_kernel* kernels,
                                                                 cl_uint* count) {
  const CompilerGuard guard;
  return oclgrinds().clCreateKernelsInProgram(program, room, kernels, count);
}
