// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include <bankwise/gpu/cuda_api.hpp>
#include <bankwise/gpu/stream_gate.hpp>

namespace bankwise::gpu {

/// A gate in a CUDA stream. If the driver cannot wait for a word, the gate is always open, and open() returns the
/// reason.
class CudaGate {
 public:
  /// For streams of the current device. Error: gpu::Error.
  CudaGate();
  ~CudaGate();
  CudaGate(const CudaGate&) = delete;
  CudaGate& operator=(const CudaGate&) = delete;

  /// Work that is enqueued in `stream` from now on waits for open(), or for one of the gate's limits.
  void close(cudaStream_t stream);
  void count(unsigned commands = 1);
  std::string open();

 private:
  std::uint32_t* word_ = nullptr;  // in host memory, which the device sees at the same address
  void* wait_value_ = nullptr;     // cuStreamWaitValue32
  std::string unavailable_;        // why the device cannot wait
  std::optional<StreamGate> gate_;
};

}  // namespace bankwise::gpu
