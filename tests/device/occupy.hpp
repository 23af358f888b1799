#pragma once

#include <memory>

#include <bankwise/gpu/session.hpp>

/// Blocks that occupy all but a few multiprocessors of a CUDA device until the destructor ends them, or 20 seconds are
/// over. Allocate memory before and free it afterwards, because CUDA may wait for all kernels when it allocates or
/// frees; for the same reason load the code of other kernels before: launch each once.
class OccupiedDevice {
 public:
  OccupiedDevice(const bankwise::gpu::DeviceInfo& device, unsigned free_units);
  ~OccupiedDevice();  // tells them to leave, and waits
  OccupiedDevice(const OccupiedDevice&) = delete;
  OccupiedDevice& operator=(const OccupiedDevice&) = delete;

  /// Whether all of its blocks are still resident. If not, the other blocks had more room than intended.
  bool is_occupied() const;

  /// The number of blocks of a shape that are resident simultaneously on the remaining multiprocessors, for a kernel
  /// with few registers; other kernels may fit fewer.
  unsigned max_resident(bankwise::gpu::GroupShape shape) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The shared memory that a block must request so that exactly so many blocks fit on a multiprocessor.
unsigned shared_per_block(unsigned blocks, const bankwise::gpu::DeviceInfo& device);
