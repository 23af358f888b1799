#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <bankwise/gpu/opencl_api.hpp>
#include <bankwise/gpu/session.hpp>

namespace bankwise::gpu {
namespace {

/// The errors from -1 and from -30 on, in the order of their numbers.
constexpr std::string_view names_from_1 =
    "CL_DEVICE_NOT_FOUND CL_DEVICE_NOT_AVAILABLE CL_COMPILER_NOT_AVAILABLE CL_MEM_OBJECT_ALLOCATION_FAILURE "
    "CL_OUT_OF_RESOURCES CL_OUT_OF_HOST_MEMORY CL_PROFILING_INFO_NOT_AVAILABLE CL_MEM_COPY_OVERLAP "
    "CL_IMAGE_FORMAT_MISMATCH CL_IMAGE_FORMAT_NOT_SUPPORTED CL_BUILD_PROGRAM_FAILURE CL_MAP_FAILURE "
    "CL_MISALIGNED_SUB_BUFFER_OFFSET CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST CL_COMPILE_PROGRAM_FAILURE "
    "CL_LINKER_NOT_AVAILABLE CL_LINK_PROGRAM_FAILURE CL_DEVICE_PARTITION_FAILED CL_KERNEL_ARG_INFO_NOT_AVAILABLE";
constexpr std::string_view names_from_30 =
    "CL_INVALID_VALUE CL_INVALID_DEVICE_TYPE CL_INVALID_PLATFORM CL_INVALID_DEVICE CL_INVALID_CONTEXT "
    "CL_INVALID_QUEUE_PROPERTIES CL_INVALID_COMMAND_QUEUE CL_INVALID_HOST_PTR CL_INVALID_MEM_OBJECT "
    "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR CL_INVALID_IMAGE_SIZE CL_INVALID_SAMPLER CL_INVALID_BINARY "
    "CL_INVALID_BUILD_OPTIONS CL_INVALID_PROGRAM CL_INVALID_PROGRAM_EXECUTABLE CL_INVALID_KERNEL_NAME "
    "CL_INVALID_KERNEL_DEFINITION CL_INVALID_KERNEL CL_INVALID_ARG_INDEX CL_INVALID_ARG_VALUE CL_INVALID_ARG_SIZE "
    "CL_INVALID_KERNEL_ARGS CL_INVALID_WORK_DIMENSION CL_INVALID_WORK_GROUP_SIZE CL_INVALID_WORK_ITEM_SIZE "
    "CL_INVALID_GLOBAL_OFFSET CL_INVALID_EVENT_WAIT_LIST CL_INVALID_EVENT CL_INVALID_OPERATION "
    "CL_INVALID_GL_OBJECT CL_INVALID_BUFFER_SIZE CL_INVALID_MIP_LEVEL CL_INVALID_GLOBAL_WORK_SIZE "
    "CL_INVALID_PROPERTY CL_INVALID_IMAGE_DESCRIPTOR CL_INVALID_COMPILER_OPTIONS CL_INVALID_LINKER_OPTIONS "
    "CL_INVALID_DEVICE_PARTITION_COUNT";
static_assert(CL_KERNEL_ARG_INFO_NOT_AVAILABLE == -19 && CL_INVALID_VALUE == -30 &&
              CL_INVALID_DEVICE_PARTITION_COUNT == -68);

/// Word `number` of a list, from 0; empty if there are not so many.
std::string_view word_at(std::string_view list, int number) {
  for (; number > 0 && !list.empty(); --number) list.remove_prefix(std::min(list.find(' '), list.size() - 1) + 1);
  return list.substr(0, list.find(' '));
}

class OpenClBuffer : public Buffer {
 public:
  OpenClBuffer(const cl::Context& context, std::uint64_t bytes)
      : Buffer(bytes), memory_(opencl([&] { return cl::Buffer(context, CL_MEM_READ_WRITE, bytes); })) {}
  const cl::Buffer& memory() const { return memory_; }

 private:
  cl::Buffer memory_;
};

const cl::Buffer& memory(const Buffer& buffer) { return static_cast<const OpenClBuffer&>(buffer).memory(); }

/// NVIDIA's compiler ignores the #line in front of the source: it calls the file <kernel> and counts one line too many.
std::string with_file_name(const std::string& log, std::string_view file) {
  constexpr std::string_view position = "<kernel>:";
  std::string text;
  std::size_t done = 0;
  for (std::size_t at = log.find(position); at != std::string::npos; at = log.find(position, at + 1)) {
    const char* digits = log.data() + at + position.size();
    unsigned long line = 0;
    const char* end = std::from_chars(digits, log.data() + log.size(), line).ptr;
    if (end == digits) continue;
    text.append(log, done, at - done);
    text += fmt::format("{}:{}", file, line - 1);
    done = std::size_t(end - log.data());
  }
  return text.append(log, done);
}

class OpenClSession : public Session {
 public:
  OpenClSession(const DeviceInfo& info, const cl::Device& device) : info_(info), device_(device) {
    opencl([&] {
      context_ = cl::Context(device_);
      queue_ = cl::CommandQueue(context_, device_, CL_QUEUE_PROFILING_ENABLE);
    });
  }
  ~OpenClSession() override {
    const cl_int code = clFinish(queue_());
    if (code != CL_SUCCESS) log_failure("clFinish", opencl_error_name(code));
  }

  const DeviceInfo& info() const override { return info_; }

  std::unique_ptr<Buffer> allocate(std::uint64_t bytes) override {
    // Drivers that allocate at first use would accept any size here and fail later.
    if (bytes > info_.max_allocation) {
      throw Unsupported(
          fmt::format("a buffer of {} bytes; this device allocates at most {}", bytes, info_.max_allocation));
    }
    return std::make_unique<OpenClBuffer>(context_, bytes);
  }

  void write(Buffer& to, std::uint64_t offset, std::span<const std::byte> data) override {
    opencl([&] { queue_.enqueueWriteBuffer(memory(to), CL_TRUE, offset, data.size(), data.data()); });
  }

  void read(const Buffer& from, std::uint64_t offset, std::span<std::byte> data) override {
    opencl([&] { queue_.enqueueReadBuffer(memory(from), CL_TRUE, offset, data.size(), data.data()); });
  }

  // In buffers of 1 GiB, because NVIDIA's driver fails from 2^31 bytes on (github.com/inducer/pyopencl/issues/395).
  void fill(Buffer& to, std::uint64_t offset, std::uint64_t bytes, std::uint8_t value) override {
    constexpr std::uint64_t max_bytes = 1 << 30;
    const cl_uint pattern = value * 0x01010101U;  // filling byte by byte is slow on some drivers
    opencl([&] {
      for (const std::uint64_t end = offset + bytes; offset < end;) {
        const std::uint64_t inside = offset % max_bytes, part = std::min(max_bytes - inside, end - offset);
        cl::Buffer buffer = memory(to);
        if (offset >= max_bytes) {
          const cl_buffer_region region{offset - inside, inside + part};
          buffer = buffer.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region);
        }
        queue_.enqueueFillBuffer(buffer, pattern, inside, part, nullptr, next_event());
        offset += part;
      }
    });
  }

  void copy(const Buffer& from, Buffer& to, std::uint64_t bytes) override {
    opencl([&] { queue_.enqueueCopyBuffer(memory(from), memory(to), 0, 0, bytes, nullptr, next_event()); });
  }

  void prepare(const KernelImage& image, Form form, GroupShape group) override {
    require_capability(info_, image.name, image.opencl_capability);
    if (group.size() > info_.max_group) {
      throw Unsupported(
          fmt::format("groups of {} work-items; this device has at most {}", group.size(), info_.max_group));
    }
    const auto longest = opencl([&] { return device_.getInfo<CL_DEVICE_MAX_WORK_ITEM_SIZES>(); });
    if (group.x > longest.at(0) || group.y > longest.at(1)) {
      throw Unsupported(fmt::format("groups of {} x {} work-items; this device has at most {} x {}", group.x, group.y,
                                    longest.at(0), longest.at(1)));
    }
    const std::pair key{std::string(image.name), form};
    if (!kernels_.contains(key)) kernels_.emplace(key, build(image, form));
    const cl::Kernel& kernel = kernels_.at(key);
    opencl([&] {
      const auto largest = kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device_);
      // NVIDIA's driver returns 256 here even for a kernel that requires more, and then runs it.
      const auto required = kernel.getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(device_);
      if (group.size() > largest && (required[0] != group.x || required[1] != group.y)) {
        throw Unsupported(
            fmt::format("{} runs in groups of at most {} work-items here, not {}", image.name, largest, group.size()));
      }
      const auto local = kernel.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(device_);
      if (local > info_.local_memory) {
        throw Unsupported(fmt::format("{} needs {} bytes of local memory; this device has {}", image.name, local,
                                      info_.local_memory));
      }
    });
  }

  void launch(const KernelImage& image, Form form, std::uint64_t groups, GroupShape group,
              std::span<const KernelArgument> arguments) override {
    cl::Kernel& kernel = kernels_.at({std::string(image.name), form});
    opencl([&] {
      for (cl_uint i = 0; i < arguments.size(); ++i) {
        if (const auto* buffer = std::get_if<Buffer*>(&arguments[i])) {
          kernel.setArg(i, memory(**buffer));
        } else {
          kernel.setArg(i, cl_ulong{std::get<std::uint64_t>(arguments[i])});
        }
      }
      queue_.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(groups * group.x, group.y),
                                  cl::NDRange(group.x, group.y), nullptr, next_event());
    });
  }

  void launch(const Library&, const Buffer&, Buffer&, Buffer&, std::uint64_t, std::uint64_t) override {
    throw Unsupported("the library exists only for CUDA");
  }

  Timed time(const std::function<void()>& before, const std::function<void()>& enqueue, Enqueueing) override {
    recording_ = false;  // an error may have left it on
    before();
    events_.clear();
    recording_ = true;
    enqueue();
    recording_ = false;
    wait();
    return opencl([&] {
      cl_ulong busy = 0;
      for (const cl::Event& event : events_) {
        busy +=
            event.getProfilingInfo<CL_PROFILING_COMMAND_END>() - event.getProfilingInfo<CL_PROFILING_COMMAND_START>();
      }
      return Timed{double(busy) * 1e-9, {}};
    });
  }

  void wait() override {
    opencl([&] { queue_.finish(); });
  }

  Counters count(const std::function<void()>&, const std::function<void()>&) override {
    // CUPTI's ranges belong to a CUDA context: for an OpenCL kernel inside a range, an H200 counted nothing.
    const bool nvidia = info_.platform.find("NVIDIA") != std::string::npos;
    throw Unsupported(nvidia
                          ? "hardware counters exist only for CUDA contexts; see the same kernel's row under --api cuda"
                          : "OpenCL has no hardware counters");
  }

 private:
  cl::Event* next_event() { return recording_ ? &events_.emplace_back() : nullptr; }

  cl::Kernel build(const KernelImage& image, Form form) const {
    if (image.opencl_file.empty() && !image.why_not_ported.empty())
      throw Unsupported(std::string(image.why_not_ported));
    if (image.opencl_file.empty()) throw Unsupported(fmt::format("{} has no OpenCL port", image.name));
    std::string source(image.opencl_source);
    if (form == Form::repeated) source = repeat_section(source, Api::opencl);
    source = fmt::format("#line 1 \"{}\"\n{}", image.opencl_file, source);  // the compiler's log then names the file
    return opencl([&] {
      cl::Program program(context_, source);
      try {
        program.build("-cl-std=CL1.2");
      } catch (const cl::Error& error) {
        if (error.err() != CL_BUILD_PROGRAM_FAILURE) throw;
        const std::string log = program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_);
        throw BuildError(
            fmt::format("{} does not compile: {}", image.opencl_file, with_file_name(log, image.opencl_file)));
      }
      return cl::Kernel(program, std::string(image.name).c_str());
    });
  }

  DeviceInfo info_;
  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
  std::map<std::pair<std::string, Form>, cl::Kernel> kernels_;
  std::vector<cl::Event> events_;
  bool recording_ = false;
};

/// All devices of all platforms, in the loader's order. A platform without devices counts as none.
std::vector<cl::Device> all_devices() {
  std::vector<cl::Platform> platforms;
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error& error) {
    if (error.err() != CL_PLATFORM_NOT_FOUND_KHR) throw;  // the loader found nothing
  }
  std::vector<cl::Device> list;
  for (const auto& platform : platforms) {
    std::vector<cl::Device> devices;
    try {
      platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    } catch (const cl::Error& error) {
      // One platform that has no devices or is broken must not hide the others.
      if (error.err() != CL_DEVICE_NOT_FOUND) log_failure("clGetDeviceIDs", opencl_error_name(error.err()));
    }
    list.insert(list.end(), devices.begin(), devices.end());
  }
  return list;
}

/// Queries that need a vendor's extension to OpenCL 1.2. Empty without the extension.
std::optional<unsigned> ask(const cl::Device& device, const char* extension, cl_device_info query) {
  const std::string extensions = device.getInfo<CL_DEVICE_EXTENSIONS>();
  cl_uint answer = 0;
  if (extensions.find(extension) == std::string::npos ||
      clGetDeviceInfo(device(), query, sizeof answer, &answer, nullptr) != CL_SUCCESS) {
    return std::nullopt;
  }
  return answer;
}
constexpr const char *nvidia = "cl_nv_device_attribute_query", *amd = "cl_amd_device_attribute_query";

std::optional<unsigned> warp_width(const cl::Device& device) {
  constexpr cl_device_info warp_size_nv = 0x4003, wavefront_width_amd = 0x4043;
  const auto width = ask(device, nvidia, warp_size_nv);
  return width ? width : ask(device, amd, wavefront_width_amd);
}

/// NVIDIA reports its compute capability; AMD's devices are named "gfx942:sramecc+:xnack-" and the like.
std::string architecture(const cl::Device& device, const std::string& name) {
  constexpr cl_device_info compute_capability_major = 0x4000, compute_capability_minor = 0x4001;
  const auto major = ask(device, nvidia, compute_capability_major),
             minor = ask(device, nvidia, compute_capability_minor);
  if (major && minor) return fmt::format("sm_{}{}", *major, *minor);
  return warp_width(device) ? name.substr(0, name.find(':')) : "";
}

/// NVIDIA's slot is the number of the PCI device; a GPU is its function 0. A driver without domains has one.
std::string pci_bus_id(const cl::Device& device) {
  constexpr cl_device_info bus_nv = 0x4008, slot_nv = 0x4009, domain_nv = 0x400A;
  const auto bus = ask(device, nvidia, bus_nv), slot = ask(device, nvidia, slot_nv);
  if (!bus || !slot) return "";
  return fmt::format("{:04x}:{:02x}:{:02x}.0", ask(device, nvidia, domain_nv).value_or(0), *bus, *slot);
}

/// Some drivers end strings with a zero or pad them with blanks.
std::string trimmed(std::string text) {
  const auto end = text.find_last_not_of(std::string("\0 \n", 3));
  text.resize(end == std::string::npos ? 0 : end + 1);
  return text;
}

DeviceInfo describe(const cl::Device& device) {
  DeviceInfo info;
  info.api = Api::opencl;
  info.name = trimmed(device.getInfo<CL_DEVICE_NAME>());
  info.platform = trimmed(cl::Platform(device.getInfo<CL_DEVICE_PLATFORM>()).getInfo<CL_PLATFORM_NAME>());
  info.driver = trimmed(device.getInfo<CL_DRIVER_VERSION>());
  info.architecture = architecture(device, info.name);
  info.is_gpu = (device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_GPU) != 0;
  info.warp_width = warp_width(device);
  info.compute_units = std::max(1U, device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>());
  info.max_group = unsigned(device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>());
  info.local_memory = device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  info.global_memory = device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
  info.max_allocation = device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
  info.cache = device.getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>();
  info.pci_bus_id = pci_bus_id(device);
  info.clock_hz = 1e6 * device.getInfo<CL_DEVICE_MAX_CLOCK_FREQUENCY>();
  info.timer_resolution_s = double(device.getInfo<CL_DEVICE_PROFILING_TIMER_RESOLUTION>()) * 1e-9;
  return info;
}

}  // namespace

std::string opencl_error_name(cl_int code) {
  const std::string_view name = code == -1001 ? "CL_PLATFORM_NOT_FOUND_KHR"
                                : code >= 0   ? ""
                                : code > -30  ? word_at(names_from_1, -1 - code)
                                              : word_at(names_from_30, -30 - code);
  return name.empty() ? "error " + std::to_string(code) : std::string(name);
}

std::string append_opencl_devices(std::vector<DeviceInfo>& list) {
  return opencl([&]() -> std::string {
    const auto devices = all_devices();
    for (std::size_t i = 0; i < devices.size(); ++i) {
      list.push_back(describe(devices[i]));
      list.back().api_index = int(i);
    }
    return devices.empty()
               ? "no OpenCL platform: install a driver (pocl-opencl-icd runs on any CPU), or check clinfo -l"
               : "";
  });
}

std::unique_ptr<Session> open_opencl(const DeviceInfo& device) {
  return opencl(
      [&] { return std::make_unique<OpenClSession>(device, all_devices().at(std::size_t(device.api_index))); });
}

}  // namespace bankwise::gpu
