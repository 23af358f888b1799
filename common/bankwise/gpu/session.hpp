#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <bankwise/gpu/device.hpp>
#include <bankwise/gpu/kernel_image.hpp>

namespace bankwise::gpu {

// --- Hardware counters ---

/// What a device counted in one run, over all its multiprocessors. Empty: this GPU does not have the counter.
struct Counters {
  using Count = std::optional<std::uint64_t>;
  Count shared_load_passes, shared_load_conflicts;
  Count shared_store_passes, shared_store_conflicts;
  Count shared_atomic_passes, shared_atomic_conflicts;
  /// Conflicts by arbitration in the data stage of the L1 cache: with other accesses, not between lanes. They are among
  /// those that the counters of the data pipe exceed the counters per instruction by.
  Count arbitration_conflicts;
  Count warp_instructions;  ///< executed by warps
  Count lane_instructions;  ///< the active lanes in these, added up
  Count dram_read_bytes, dram_write_bytes;
  unsigned replays = 0;  ///< runs that it took, because the device has only a few counters
};

/// Corrects what the data pipe of shared memory counted by counts of passes per instruction. On an H200, the pipe also
/// counts delays by other traffic, as passes and as conflicts: up to 8 % in a full grid. Counts per instruction do not,
/// but have some merged lane groups twice. So the smaller number of passes is right, and if it is the one per
/// instruction, the difference is no conflicts either. `replays` are added.
Counters without_other_traffic(Counters pipe, const Counters& per_instruction);

/// Why CUPTI reads no counters, and what to do about it: a sentence for its error code.
std::string why_no_counters(int error, std::string_view call, std::string_view name);

/// Counts what `run` does in CUDA's current context, and calls it repeatedly until every counter is read. `before`
/// precedes each run and is not counted. `wait` waits for both. Error: Unsupported with a sentence of
/// why_no_counters(), or because CUPTI is missing.
Counters count_on_cuda(const std::function<void()>& before, const std::function<void()>& run,
                       const std::function<void()>& wait);

// --- Sessions ---

/// Memory on a device, freed with the object. It must not outlive its session.
class Buffer {
 public:
  explicit Buffer(std::uint64_t bytes) : bytes_(bytes) {}
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t bytes_;
};

/// Which of a kernel's two forms: as written, or with its shared-memory section repeated.
enum class Form { once, repeated };

/// A buffer, or a 64-bit number (`size_t` in CUDA, `ulong` in OpenCL).
using KernelArgument = std::variant<Buffer*, std::uint64_t>;

/// How the timed commands reach the device.
enum class Enqueueing {
  held_back,  ///< the device begins when all of them are enqueued, if the API's timer would include the gaps
  immediate,  ///< the device begins with the first
};

/// A time that the device measured, in seconds.
struct Timed {
  double seconds = 0;
  /// Why the time may include the host's launch overhead although it was to be held back, or empty.
  std::string launch_overhead;
};

/// An open device with one in-order queue. Not thread-safe. Functions throw the API's errors as gpu::Error.
class Session {
 public:
  virtual ~Session() = default;
  virtual const DeviceInfo& info() const = 0;

  /// Allocates `bytes` of uninitialized memory, at least one.
  virtual std::unique_ptr<Buffer> allocate(std::uint64_t bytes) = 0;

  /// Allocates `bytes` of uninitialized host memory, from and to which write() and read() are fastest: CUDA pins it.
  virtual std::shared_ptr<std::byte> allocate_host(std::uint64_t bytes);

  /// These two wait until the data has moved. Offsets and sizes in bytes.
  virtual void write(Buffer& to, std::uint64_t offset, std::span<const std::byte> data) = 0;
  virtual void read(const Buffer& from, std::uint64_t offset, std::span<std::byte> data) = 0;

  /// These enqueue and return. Offset and bytes of a fill are multiples of 4.
  virtual void fill(Buffer& to, std::uint64_t offset, std::uint64_t bytes, std::uint8_t value) = 0;
  virtual void copy(const Buffer& from, Buffer& to, std::uint64_t bytes) = 0;

  /// Compiles or loads a kernel and compares it with the device's limits. Errors: BuildError; Unsupported.
  virtual void prepare(const KernelImage& image, Form form, GroupShape group) = 0;
  /// Launches `groups` groups in one dimension, each of shape `group`. prepare() must have accepted the kernel.
  virtual void launch(const KernelImage& image, Form form, std::uint64_t groups, GroupShape group,
                      std::span<const KernelArgument> arguments) = 0;
  /// Enqueues a vendor's routine. Error: Unsupported on an API that has none.
  virtual void launch(const Library& library, const Buffer& in, Buffer& out, Buffer& workspace, std::uint64_t height,
                      std::uint64_t width) = 0;

  /// Runs `enqueue`, waits, and returns the device's time for the enqueued commands: between two events around them
  /// (CUDA), or the sum of their profiled durations (OpenCL, whose drivers leave gaps between commands while they
  /// profile). `before` is enqueued first and not timed. CUDA holds the stream back until everything is enqueued;
  /// `before` and `enqueue` may then enqueue 512 commands, and must not wait for the device. Otherwise Timed reports
  /// that the time may include launch overhead. Profiled durations include none.
  virtual Timed time(const std::function<void()>& before, const std::function<void()>& enqueue,
                     Enqueueing how = Enqueueing::held_back) = 0;
  virtual void wait() = 0;

  /// Hardware counters of what `run` enqueues, which must be repeatable. `before` is enqueued before each run and not
  /// counted. Error: Unsupported with the reason and the remedy; nothing else is affected.
  virtual Counters count(const std::function<void()>& before, const std::function<void()>& run) = 0;

  /// Enqueues reads of enough other memory to evict the caches' content. It writes nothing: dirty lines would be
  /// written back during the next measurement, and be charged to it.
  void flush_caches();

  /// Bytes per second at which the device reads `bytes` of memory, `rounds` times in one launch, past the L1 caches:
  /// the best of five samples. If the L2 cache can hold them, it is that of the L2 cache.
  double read_bandwidth(std::uint64_t bytes, std::uint64_t rounds);

 private:
  void read_all(Buffer& buffer, std::uint64_t rounds);

  std::unique_ptr<Buffer> flush_;
};

/// Opens a device of the list devices().list.
std::unique_ptr<Session> open(const DeviceInfo& device);

// For libraries that enqueue work in a CUDA session's stream, such as NCCL. Only with CUDA's sessions and buffers.

/// The buffer's address on its device.
void* cuda_address(const Buffer& buffer);

/// Makes the session's device current and calls `enqueue` with its stream (a cudaStream_t), for so many commands.
void cuda_enqueue(Session& session, unsigned commands, const std::function<void(void* stream)>& enqueue);

// The two backends, for session.cpp.

/// Appends the devices of this API (index unset). If there are none, it returns a sentence with a remedy.
std::string append_cuda_devices(std::vector<DeviceInfo>& list);
std::string append_opencl_devices(std::vector<DeviceInfo>& list);

std::unique_ptr<Session> open_cuda(const DeviceInfo& device);
std::unique_ptr<Session> open_opencl(const DeviceInfo& device);

/// Error: Unsupported if the device is NVIDIA's and has a lower compute capability than this (90: 9.0).
void require_capability(const DeviceInfo& device, std::string_view kernel, unsigned least);

/// The host handle of a kernel's __global__ function in one of its forms. Error: Unsupported if this build lacks it.
const void* cuda_handle(const KernelImage& image, Form form);

}  // namespace bankwise::gpu
