// SPDX-License-Identifier: MIT
//
// NCCL is not emulated: programs may include its header, but not call it.
#pragma once

#include <cuda_runtime.h>

#include <bankwise/emulator/cuda/not_emulated.hpp>

namespace bankwise::emulator::cuda {

using ncclComm_t = struct ncclComm_t_of_library*;
struct ncclUniqueId {
  char internal[128];
};
enum ncclResult_t { ncclSuccess, ncclUnhandledCudaError };
enum ncclDataType_t {
  ncclInt8,
  ncclUint8,
  ncclInt32,
  ncclUint32,
  ncclInt64,
  ncclUint64,
  ncclFloat16,
  ncclFloat32,
  ncclFloat64,
  ncclBfloat16,
  ncclFloat = 7,
  ncclDouble
};
enum ncclRedOp_t { ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg };

// clang-format off
#define BANKWISE_NAMES(X) \
  X(ncclCommInitRank) X(ncclCommInitAll) X(ncclCommDestroy) X(ncclGetUniqueId) X(ncclGetErrorString) \
  X(ncclAllReduce) X(ncclReduce) X(ncclBroadcast) X(ncclReduceScatter) X(ncclAllGather) X(ncclSend) X(ncclRecv) \
  X(ncclGroupStart) X(ncclGroupEnd)
// clang-format on
#define BANKWISE_NO(name) BANKWISE_NOT_EMULATED(ncclResult_t, name)
BANKWISE_NAMES(BANKWISE_NO)
#undef BANKWISE_NO
#undef BANKWISE_NAMES

}  // namespace bankwise::emulator::cuda
