// SPDX-License-Identifier: MIT
#include <bankwise/gpu/cuda_gate.hpp>

#include <cuda.h>
#include <fmt/format.h>

namespace bankwise::gpu {
namespace {

using WaitValue = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned flags);

/// Asks the runtime, so nothing is linked with the driver, which may be absent. Null if the driver lacks the function.
void* find_wait_value() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t code =
      cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &function, 11070, cudaEnableDefault, &found);
#else
  const cudaError_t code = cudaGetDriverEntryPoint("cuStreamWaitValue32", &function, cudaEnableDefault, &found);
#endif
  BANKWISE_CUDA(code);
  return found == cudaDriverEntryPointSuccess ? function : nullptr;
}

}  // namespace

CudaGate::CudaGate() : wait_value_(find_wait_value()) {
  if (wait_value_ == nullptr) {
    unavailable_ = "the driver cannot hold a stream back: it has no cuStreamWaitValue32";
    return;
  }
  void* word = nullptr;
  BANKWISE_CUDA(cudaHostAlloc(&word, sizeof *word_, cudaHostAllocMapped | cudaHostAllocPortable));
  word_ = static_cast<std::uint32_t*>(word);
  *word_ = 0;
  gate_.emplace(*word_);
}

CudaGate::~CudaGate() {
  gate_.reset();
  if (word_ != nullptr) log_cuda(cudaFreeHost(word_), "cudaFreeHost");
}

void CudaGate::close(cudaStream_t stream) {
  if (!unavailable_.empty()) return;
  const auto wait_value = reinterpret_cast<WaitValue>(wait_value_);
  const CUresult code =
      wait_value(stream, reinterpret_cast<CUdeviceptr>(word_), gate_->close(), CU_STREAM_WAIT_VALUE_GEQ);
  if (code == CUDA_SUCCESS) return;
  gate_->open();
  unavailable_ = fmt::format("the driver cannot hold a stream back: cuStreamWaitValue32 returns {}", int(code));
}

void CudaGate::count(unsigned commands) {
  if (gate_) gate_->count(commands);
}

std::string CudaGate::open() {
  return unavailable_.empty() ? gate_->open() : unavailable_;
}

}  // namespace bankwise::gpu
