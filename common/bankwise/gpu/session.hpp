// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include <bankwise/gpu/counters.hpp>
#include <bankwise/gpu/device.hpp>
#include <bankwise/gpu/group_shape.hpp>
#include <bankwise/gpu/kernel_image.hpp>

namespace bankwise::gpu {

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

/// How the commands that are timed reach the device.
enum class Enqueueing {
  held_back,  ///< the device begins when all of them are enqueued, where the API's timer would see the gaps
  immediate,  ///< it begins with the first
};

/// A time that a device took, in its own seconds.
struct Timed {
  double seconds = 0;
  /// Why the time may hold the host's launch overhead although it was to be held back, as one sentence; else empty.
  std::string launch_overhead;
};

/// An open device with one in-order queue of work. Not for use by two threads at once.
/// Every function throws gpu::Error when the API reports an error.
class Session {
 public:
  virtual ~Session() = default;
  virtual const DeviceInfo& info() const = 0;

  /// `bytes` of uninitialised memory, at least one.
  virtual std::unique_ptr<Buffer> allocate(std::uint64_t bytes) = 0;

  /// These two wait until the data has moved. Offsets and sizes in bytes.
  virtual void write(Buffer& to, std::uint64_t offset, std::span<const std::byte> data) = 0;
  virtual void read(const Buffer& from, std::uint64_t offset, std::span<std::byte> data) = 0;

  /// These enqueue and return. Offset and bytes of a fill are multiples of 4.
  virtual void fill(Buffer& to, std::uint64_t offset, std::uint64_t bytes, std::uint8_t value) = 0;
  virtual void copy(const Buffer& from, Buffer& to, std::uint64_t bytes) = 0;

  /// Compiles or loads a kernel and compares it with the device's limits. Errors: BuildError; Unsupported.
  virtual void prepare(const KernelImage& image, Form form, GroupShape group) = 0;
  /// `groups` groups in one dimension, each `group` in shape. prepare() must have accepted the kernel.
  virtual void launch(const KernelImage& image, Form form, std::uint64_t groups, GroupShape group,
                      std::span<const KernelArgument> arguments) = 0;
  /// A vendor's routine. Error: Unsupported on an API that has none.
  virtual void launch(const Library& library, const Buffer& in, Buffer& out, Buffer& workspace, std::uint64_t height,
                      std::uint64_t width) = 0;

  /// Runs `enqueue`, waits, and returns the device's own seconds for the commands that it enqueued: between two events
  /// around them (CUDA), or the sum of their profiled durations (OpenCL, whose drivers leave gaps between commands
  /// while they profile). `before` is enqueued ahead and not timed. CUDA holds the stream back until all of it is
  /// enqueued; both may enqueue 512 commands then, and must not wait for the device. Otherwise the time is still one of
  /// the same work, and says that it may hold launch overhead. Profiled durations hold none: nothing is held back.
  virtual Timed time(const std::function<void()>& before, const std::function<void()>& enqueue,
                     Enqueueing how = Enqueueing::held_back) = 0;
  virtual void wait() = 0;

  /// Hardware counters of what `run` enqueues, which must be fit to be run several times. `before` is enqueued ahead of
  /// each run and not counted. Error: Unsupported with the reason, and what to do about it; nothing else is affected.
  virtual Counters count(const std::function<void()>& before, const std::function<void()>& run) = 0;

  /// Enqueues the reading of enough other memory to push the caches' content out. It writes nothing: dirty lines would
  /// be written back during, and charged to, whatever is measured next.
  void flush_caches();

 private:
  std::unique_ptr<Buffer> flush_;
};

/// Opens a device of devices().list.
std::unique_ptr<Session> open(const DeviceInfo& device);

}  // namespace bankwise::gpu
