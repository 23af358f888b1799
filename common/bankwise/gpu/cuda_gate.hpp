// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include <bankwise/gpu/cuda_api.hpp>
#include <bankwise/gpu/stream_gate.hpp>

namespace bankwise::gpu {

/// A gate in a CUDA stream. Where the driver cannot wait for a word, it is always open, and open() says why.
class CudaGate {
 public:
  /// For streams of the current device. Error: gpu::Error.
  CudaGate();
  ~CudaGate();
  CudaGate(const CudaGate&) = delete;
  CudaGate& operator=(const CudaGate&) = delete;

  /// What is enqueued in `stream` from now on waits for open(), or for one of the gate's limits.
  void close(cudaStream_t stream);
  void count(unsigned commands = 1);
  std::string open();

 private:
  std::uint32_t* word_ = nullptr;  // in the host's memory, where the device sees it at the same address
  void* wait_value_ = nullptr;     // cuStreamWaitValue32
  std::string unavailable_;        // why the device cannot wait
  std::optional<StreamGate> gate_;
};

}  // namespace bankwise::gpu
