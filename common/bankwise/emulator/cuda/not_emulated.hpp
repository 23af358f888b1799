// Functions of CUDA that are not emulated. They are declared, so that headers and their users compile, but a call is an
// error at compile time that names the function, the file and the line.
#pragma once

#include <bankwise/emulator/cuda/qualifiers.hpp>

/// A function with any arguments.
#define BANKWISE_NOT_EMULATED(result, name) \
  template <class... Arguments>             \
  __attribute__((__error__(#name " is not emulated"))) result name(Arguments&&...);
/// The same for up to 125 names, and types of handles.
#define BANKWISE_NONE_OF(result, ...) BANKWISE_SCAN(BANKWISE_FIRST(BANKWISE_NOT_EMULATED, result, __VA_ARGS__))
#define BANKWISE_HANDLES(...) BANKWISE_SCAN(BANKWISE_FIRST(BANKWISE_HANDLE, , __VA_ARGS__))
#define BANKWISE_HANDLE(result, name) using name = struct name##_of_library*;
#define BANKWISE_FIRST(define, result, name, ...) \
  define(result, name) __VA_OPT__(BANKWISE_NEXT BANKWISE_PARENTHESES(define, result, __VA_ARGS__))
#define BANKWISE_PARENTHESES ()
#define BANKWISE_NEXT() BANKWISE_FIRST
#define BANKWISE_SCAN(...) \
  BANKWISE_SCAN_1(BANKWISE_SCAN_1(BANKWISE_SCAN_1(BANKWISE_SCAN_1(BANKWISE_SCAN_1(__VA_ARGS__)))))
#define BANKWISE_SCAN_1(...) \
  BANKWISE_SCAN_2(BANKWISE_SCAN_2(BANKWISE_SCAN_2(BANKWISE_SCAN_2(BANKWISE_SCAN_2(__VA_ARGS__)))))
#define BANKWISE_SCAN_2(...) \
  BANKWISE_SCAN_3(BANKWISE_SCAN_3(BANKWISE_SCAN_3(BANKWISE_SCAN_3(BANKWISE_SCAN_3(__VA_ARGS__)))))
#define BANKWISE_SCAN_3(...) __VA_ARGS__

// Thrust of a CUDA toolkit runs on the host, without its types of 8 bits and fewer.
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#define CCCL_DISABLE_NVFP8_SUPPORT
#define _CUDA_PTX_CP_REDUCE_ASYNC_BULK_H_  // declares __half as a type of its own

// Functions of CUDA's own headers.
namespace bankwise::emulator::cuda {

// Thread block clusters, barriers by number, state spaces that the host does not tell apart, atomics of 128 bits.
BANKWISE_NONE_OF(unsigned, __clusterDimIsSpecified, __clusterRelativeBlockRank, __clusterSizeInBlocks,
                 __cluster_query_shared_rank, __isClusterShared, __isConstant, __isLocal, __isGridConstant)
BANKWISE_NONE_OF(void, __cluster_barrier_arrive, __cluster_barrier_arrive_relaxed, __cluster_barrier_wait,
                 __threadfence_cluster, __barrier_sync, __barrier_sync_count, __u128AtomicCAS, __u128AtomicExch,
                 __brkpt, __prof_trigger)
BANKWISE_NOT_EMULATED(void*, __cluster_map_shared_rank)

}  // namespace bankwise::emulator::cuda
