// SPDX-License-Identifier: MIT
//
// cuDNN is not emulated: programs may include its header, but not call it.
#pragma once

#include <cuda_runtime.h>

#include <bankwise/emulator/cuda/not_emulated.hpp>

namespace bankwise::emulator::cuda {

using cudnnHandle_t = struct cudnnHandle_t_of_library*;
using cudnnTensorDescriptor_t = struct cudnnTensorDescriptor_t_of_library*;
enum cudnnStatus_t { CUDNN_STATUS_SUCCESS, CUDNN_STATUS_NOT_INITIALIZED };
enum cudnnDataType_t { CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF };

// clang-format off
#define BANKWISE_NAMES(X) \
  X(cudnnCreate) X(cudnnDestroy) X(cudnnSetStream) X(cudnnGetErrorString) X(cudnnCreateTensorDescriptor) \
  X(cudnnDestroyTensorDescriptor) X(cudnnSetTensor4dDescriptor) X(cudnnSoftmaxForward) \
  X(cudnnConvolutionForward)
// clang-format on
#define BANKWISE_NO(name) BANKWISE_NOT_EMULATED(cudnnStatus_t, name)
BANKWISE_NAMES(BANKWISE_NO)
#undef BANKWISE_NO
#undef BANKWISE_NAMES

}  // namespace bankwise::emulator::cuda
