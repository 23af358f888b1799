#include <cuda.h>
#include <fmt/format.h>

#include <limits>
#include <optional>

#include <bankwise/gpu/cuda_api.hpp>
#include <bankwise/gpu/session.hpp>
#include <bankwise/gpu/stream_gate.hpp>

namespace bankwise::gpu {

void check_cuda(cudaError_t code, std::string_view call, CallSite where) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // clears the error, which the next call would return otherwise
  throw Error(call, fmt::format("{} ({})", cudaGetErrorName(code), cudaGetErrorString(code)), where);
}

void log_cuda(cudaError_t code, std::string_view call) noexcept {
  if (code != cudaSuccess) log_failure(call, cudaGetErrorName(code));
}

void* driver_function(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status{};
#if CUDART_VERSION >= 12050
  BANKWISE_CUDA(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &status));
#else
  BANKWISE_CUDA(cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &status));
#endif
  return status == cudaDriverEntryPointSuccess ? function : nullptr;
}

namespace {

/// A gate in a CUDA stream. If the driver cannot wait for a word, the gate is always open, and open() says why.
class CudaGate {
 public:
  /// For streams of the current device. Error: gpu::Error.
  CudaGate() : wait_value_(reinterpret_cast<WaitValue>(driver_function("cuStreamWaitValue32", 11070))) {
    if (wait_value_ == nullptr) {
      unavailable_ = "the driver cannot hold a stream back: it has no cuStreamWaitValue32";
      return;
    }
    void* memory = nullptr;
    BANKWISE_CUDA(cudaHostAlloc(&memory, sizeof(std::uint32_t), cudaHostAllocMapped | cudaHostAllocPortable));
    memory_.reset(static_cast<std::byte*>(memory));
    gate_.emplace(*new (memory) std::uint32_t{0});
  }

  /// Work that is enqueued in `stream` from now on waits for open(), or for one of the gate's limits.
  void close(cudaStream_t stream) {
    if (!unavailable_.empty()) return;
    const CUresult code =
        wait_value_(stream, reinterpret_cast<CUdeviceptr>(memory_.get()), gate_->close(), CU_STREAM_WAIT_VALUE_GEQ);
    if (code == CUDA_SUCCESS) return;
    gate_->open();
    unavailable_ = fmt::format("the driver cannot hold a stream back: cuStreamWaitValue32 returns {}", int(code));
  }
  void count(unsigned commands = 1) {
    if (gate_) gate_->count(commands);
  }
  std::string open() { return unavailable_.empty() ? gate_->open() : unavailable_; }

 private:
  using WaitValue = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned flags);
  WaitValue wait_value_;
  PinnedMemory memory_;      // of the word, at the same address for the device
  std::string unavailable_;  // why the device cannot wait
  std::optional<StreamGate> gate_;
};

/// What a library's call may enqueue; CUB's and cuBLAS's calls here enqueue 1 to 3.
constexpr unsigned max_library_commands = 16;

class CudaBuffer : public Buffer {
 public:
  explicit CudaBuffer(std::uint64_t bytes) : Buffer(bytes), memory_(make_memory(bytes)) {}
  std::byte* at(std::uint64_t offset = 0) const { return static_cast<std::byte*>(memory_.get()) + offset; }

 private:
  Memory memory_;
};

std::byte* address(const Buffer& buffer, std::uint64_t offset = 0) {
  return static_cast<const CudaBuffer&>(buffer).at(offset);
}

class CudaSession : public Session {
 public:
  explicit CudaSession(const DeviceInfo& device) : info_(device) {
    use();
    stream_ = make_stream();
    start_ = make_event();
    stop_ = make_event();
    gate_.emplace();
  }
  ~CudaSession() override { log_cuda(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize"); }
  const DeviceInfo& info() const override { return info_; }

  std::unique_ptr<Buffer> allocate(std::uint64_t bytes) override {
    use();
    return std::make_unique<CudaBuffer>(bytes);
  }

  std::shared_ptr<std::byte> allocate_host(std::uint64_t bytes) override {
    use();
    return make_pinned_memory(bytes);
  }

  void write(Buffer& to, std::uint64_t offset, std::span<const std::byte> data) override {
    use();
    BANKWISE_CUDA(
        cudaMemcpyAsync(address(to, offset), data.data(), data.size(), cudaMemcpyHostToDevice, stream_.get()));
    wait();
  }

  void read(const Buffer& from, std::uint64_t offset, std::span<std::byte> data) override {
    use();
    BANKWISE_CUDA(
        cudaMemcpyAsync(data.data(), address(from, offset), data.size(), cudaMemcpyDeviceToHost, stream_.get()));
    wait();
  }

  void fill(Buffer& to, std::uint64_t offset, std::uint64_t bytes, std::uint8_t value) override {
    use();
    gate_->count();
    BANKWISE_CUDA(cudaMemsetAsync(address(to, offset), value, bytes, stream_.get()));
  }

  void copy(const Buffer& from, Buffer& to, std::uint64_t bytes) override {
    use();
    gate_->count();
    BANKWISE_CUDA(cudaMemcpyAsync(address(to), address(from), bytes, cudaMemcpyDeviceToDevice, stream_.get()));
  }

  void prepare(const KernelImage& image, Form form, GroupShape group) override {
    use();
    require_capability(info_, image.name, image.cuda_capability);
    cudaFuncAttributes attributes{};
    const cudaError_t code = cudaFuncGetAttributes(&attributes, cuda_handle(image, form));
    if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction) {
      (void)cudaGetLastError();
      throw Unsupported(
          fmt::format("this build has no code for {}; configure with -D CMAKE_CUDA_ARCHITECTURES=native", info_.name));
    }
    check_cuda(code, "cudaFuncGetAttributes");
    if (group.dynamic_shared > 0) claim_shared(image, form, group, attributes.sharedSizeBytes);
    if (group.size() > unsigned(attributes.maxThreadsPerBlock)) {
      throw Unsupported(fmt::format("{} runs in blocks of at most {} threads here, not {}", image.name,
                                    attributes.maxThreadsPerBlock, group.size()));
    }
  }

  void launch(const KernelImage& image, Form form, std::uint64_t groups, GroupShape group,
              std::span<const KernelArgument> arguments) override {
    if (groups > std::uint64_t(std::numeric_limits<int>::max())) {
      throw Unsupported(fmt::format("{} blocks are more than the 2147483647 of a CUDA grid", groups));
    }
    use();
    // cudaLaunchKernel takes the address of each argument's value.
    static_assert(sizeof(void*) == sizeof(std::uint64_t));
    std::vector<std::uint64_t> values(arguments.size());
    std::vector<void*> addresses(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto* buffer = std::get_if<Buffer*>(&arguments[i]);
      values[i] = buffer != nullptr ? reinterpret_cast<std::uintptr_t>(address(**buffer))
                                    : std::get<std::uint64_t>(arguments[i]);
      addresses[i] = &values[i];
    }
    gate_->count();
    BANKWISE_CUDA(cudaLaunchKernel(cuda_handle(image, form), dim3(unsigned(groups)), dim3(group.x, group.y),
                                   addresses.data(), group.dynamic_shared, stream_.get()));
  }

  void launch(const Library& library, const Buffer& in, Buffer& out, Buffer& workspace, std::uint64_t height,
              std::uint64_t width) override {
    use();
    gate_->count(max_library_commands);
    library.enqueue(stream_.get(), address(in), address(out), address(workspace), workspace.bytes(), height, width);
  }

  /// For cuda_enqueue().
  void enqueue(unsigned commands, const std::function<void(void* stream)>& enqueue_in) {
    use();
    gate_->count(commands);
    enqueue_in(stream_.get());
  }

  Timed time(const std::function<void()>& before, const std::function<void()>& enqueue, Enqueueing how) override {
    use();
    struct OpensGate {
      CudaGate& gate;
      ~OpensGate() { gate.open(); }
    } const whatever_is_thrown{*gate_};
    if (how == Enqueueing::held_back) gate_->close(stream_.get());
    before();
    BANKWISE_CUDA(cudaEventRecord(start_.get(), stream_.get()));
    enqueue();
    BANKWISE_CUDA(cudaEventRecord(stop_.get(), stream_.get()));
    Timed timed;
    if (how == Enqueueing::held_back) timed.launch_overhead = gate_->open();
    BANKWISE_CUDA(cudaEventSynchronize(stop_.get()));
    float milliseconds = 0;
    BANKWISE_CUDA(cudaEventElapsedTime(&milliseconds, start_.get(), stop_.get()));
    timed.seconds = milliseconds * 1e-3;
    return timed;
  }

  void wait() override {
    use();
    BANKWISE_CUDA(cudaStreamSynchronize(stream_.get()));
  }

  Counters count(const std::function<void()>& before, const std::function<void()>& run) override {
    use();
    return count_on_cuda(before, run, [this] { wait(); });
  }

 private:
  void use() const { BANKWISE_CUDA(cudaSetDevice(info_.api_index)); }

  unsigned attribute(cudaDeviceAttr which) const {
    int value = 0;
    BANKWISE_CUDA(cudaDeviceGetAttribute(&value, which, info_.api_index));
    return unsigned(value);
  }

  /// More than 48 KiB require an opt-in.
  void claim_shared(const KernelImage& image, Form form, GroupShape group, std::size_t own) const {
    const std::size_t limit = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    if (own + group.dynamic_shared > limit) {
      throw Unsupported(fmt::format("{} needs {} bytes of shared memory; this device has {}", image.name,
                                    own + group.dynamic_shared, limit));
    }
    BANKWISE_CUDA(cudaFuncSetAttribute(cuda_handle(image, form), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       int(group.dynamic_shared)));
  }

  DeviceInfo info_;
  Stream stream_;
  Event start_, stop_;
  std::optional<CudaGate> gate_;  // optional: it must be made after use()
};

DeviceInfo describe(int index) {
  cudaDeviceProp properties{};
  BANKWISE_CUDA(cudaGetDeviceProperties(&properties, index));
  int driver = 0, clock_khz = 0;
  BANKWISE_CUDA(cudaDriverGetVersion(&driver));
  BANKWISE_CUDA(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, index));
  DeviceInfo info;
  info.api = Api::cuda;
  info.api_index = index;
  info.name = properties.name;
  info.platform = "CUDA";
  info.driver = fmt::format("CUDA {}.{}", driver / 1000, driver % 1000 / 10);
  info.architecture = fmt::format("sm_{}{}", properties.major, properties.minor);
  info.is_gpu = true;
  info.warp_width = unsigned(properties.warpSize);
  info.compute_units = unsigned(properties.multiProcessorCount);
  info.max_group = unsigned(properties.maxThreadsPerBlock);
  info.local_memory = properties.sharedMemPerBlock;
  info.global_memory = properties.totalGlobalMem;
  info.max_allocation = properties.totalGlobalMem;
  info.cache = std::uint64_t(properties.l2CacheSize);
  info.pci_bus_id =
      fmt::format("{:04x}:{:02x}:{:02x}.0", properties.pciDomainID, properties.pciBusID, properties.pciDeviceID);
  info.clock_hz = 1e3 * clock_khz;
  info.timer_resolution_s = 0.5e-6;  // CUDA Runtime API, cudaEventElapsedTime: "around 0.5 microseconds"
  return info;
}

}  // namespace

std::string append_cuda_devices(std::vector<DeviceInfo>& list) {
  constexpr const char* no_gpu =
      "no NVIDIA GPU: CUDA has nothing to run on here; nvidia-smi lists GPUs, and CUDA_VISIBLE_DEVICES hides some";
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) {
    (void)cudaGetLastError();
    int driver = 0;
    if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
      return "no NVIDIA driver: CUDA has nothing to run on here; install the driver, or check nvidia-smi";
    if (code == cudaErrorNoDevice) return no_gpu;
    return fmt::format("the NVIDIA driver cannot be used: {}; check nvidia-smi", cudaGetErrorString(code));
  }
  for (int index = 0; index < count; ++index) list.push_back(describe(index));
  return count == 0 ? no_gpu : "";
}

void* cuda_address(const Buffer& buffer) { return address(buffer); }

void cuda_enqueue(Session& session, unsigned commands, const std::function<void(void* stream)>& enqueue) {
  static_cast<CudaSession&>(session).enqueue(commands, enqueue);
}

std::unique_ptr<Session> open_cuda(const DeviceInfo& device) { return std::make_unique<CudaSession>(device); }

}  // namespace bankwise::gpu
