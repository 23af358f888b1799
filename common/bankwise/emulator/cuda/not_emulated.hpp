// SPDX-License-Identifier: MIT
//
// Functions of CUDA that are not emulated. They are declared, so that headers and their users compile, but a call is an
// error at compile time that names the function, the file and the line.
#pragma once

#include <bankwise/emulator/cuda/qualifiers.hpp>

/// A function with any arguments.
#define BANKWISE_NOT_EMULATED(result, name) \
  template <class... Arguments>             \
  __attribute__((error(#name " is not emulated"))) result name(Arguments&&...);
/// A template that is called with numbers or types, name<8>(…).
#define BANKWISE_NO_TEMPLATE(result, name)                                      \
  template <auto... numbers, class... Arguments>                                \
  __attribute__((error(#name " is not emulated"))) result name(Arguments&&...); \
  template <class First, class... Types, class... Arguments>                    \
  __attribute__((error(#name " is not emulated"))) result name(Arguments&&...);

// Thrust of a CUDA toolkit runs on the host, without its types of 8 bits and fewer.
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#define CCCL_DISABLE_NVFP8_SUPPORT

// Functions of CUDA's own headers.
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
