// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include <bankwise/gpu/session.hpp>

/// Blocks that keep all but a few multiprocessors of a CUDA device occupied until they are told to leave, or 20 seconds
/// are over. Memory must be there before and stay until after, because CUDA may wait for all kernels when it is
/// allocated or freed; and so must the code of other kernels: launch each once before.
class Occupier {
 public:
  Occupier(const bankwise::gpu::DeviceInfo& device, unsigned free_units);
  ~Occupier();  // tells them to leave, and waits
  Occupier(const Occupier&) = delete;
  Occupier& operator=(const Occupier&) = delete;

  /// Whether all of its blocks are still there: if not, others had more room than they should have had.
  bool is_whole() const;

  /// How many blocks of a shape run at the same time on what is left. Of a kernel with hardly any registers: others may
  /// find room for fewer.
  unsigned max_at_once(bankwise::gpu::GroupShape shape) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The shared memory that a block must take for so many of its kind, and no more, to fit on a multiprocessor.
unsigned shared_of_one_in(unsigned blocks, const bankwise::gpu::DeviceInfo& device);
