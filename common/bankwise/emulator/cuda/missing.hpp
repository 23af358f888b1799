// SPDX-License-Identifier: MIT
//
// Functions of CUDA's own headers that are not emulated.
#pragma once

#include <bankwise/emulator/cuda/not_emulated.hpp>

// Thrust of a CUDA toolkit runs on the host, without its types of 8 bits and fewer.
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#define CCCL_DISABLE_NVFP8_SUPPORT

namespace bankwise::emulator::cuda {

// Thread block clusters.
BANKWISE_NOT_EMULATED(unsigned, __clusterDimIsSpecified)
BANKWISE_NOT_EMULATED(unsigned, __clusterRelativeBlockRank)
BANKWISE_NOT_EMULATED(unsigned, __clusterSizeInBlocks)
BANKWISE_NOT_EMULATED(void, __cluster_barrier_arrive)
BANKWISE_NOT_EMULATED(void, __cluster_barrier_arrive_relaxed)
BANKWISE_NOT_EMULATED(void, __cluster_barrier_wait)
BANKWISE_NOT_EMULATED(void*, __cluster_map_shared_rank)
BANKWISE_NOT_EMULATED(unsigned, __cluster_query_shared_rank)
BANKWISE_NOT_EMULATED(void, __threadfence_cluster)
BANKWISE_NOT_EMULATED(unsigned, __isClusterShared)
// Atomics of 128 bits.
BANKWISE_NOT_EMULATED(void, __u128AtomicCAS)
BANKWISE_NOT_EMULATED(void, __u128AtomicExch)
// Barriers by number, and state spaces that the host does not tell apart.
BANKWISE_NOT_EMULATED(void, __barrier_sync)
BANKWISE_NOT_EMULATED(void, __barrier_sync_count)
BANKWISE_NOT_EMULATED(unsigned, __isConstant)
BANKWISE_NOT_EMULATED(unsigned, __isLocal)
BANKWISE_NOT_EMULATED(unsigned, __isGridConstant)
BANKWISE_NOT_EMULATED(void, __brkpt)
BANKWISE_NOT_EMULATED(void, __prof_trigger)

}  // namespace bankwise::emulator::cuda

using namespace bankwise::emulator::cuda;
