// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include <bankwise/gpu/session.hpp>

/// Blocks that keep all but a few multiprocessors of a CUDA device occupied until they are told to leave, or 20 seconds
/// are over. Memory must be there before and stay until after, because CUDA may wait for all kernels when it is
/// allocated or freed; and so must the code of other kernels: launch each once before.
class OccupiedDevice {
 public:
  OccupiedDevice(const bankwise::gpu::DeviceInfo& device, unsigned free_units);
  ~OccupiedDevice();  // tells them to leave, and waits
  OccupiedDevice(const OccupiedDevice&) = delete;
  OccupiedDevice& operator=(const OccupiedDevice&) = delete;

  /// Whether all of its blocks are still there: if not, others had more room than they should have had.
  bool is_occupied() const;

  /// How many blocks of a shape run at the same time on what is left. Of a kernel with hardly any registers: others may
  /// find room for fewer.
  unsigned max_resident(bankwise::gpu::GroupShape shape) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The shared memory that a block must take for so many of its kind, and no more, to fit on a multiprocessor.
unsigned shared_per_block(unsigned blocks, const bankwise::gpu::DeviceInfo& device);
