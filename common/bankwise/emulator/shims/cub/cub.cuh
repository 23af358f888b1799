// CUB's collectives of blocks and warps are those of a CUDA Toolkit (from CUDA 13 on). Without one, and for hipCUB, the
// emulator has BlockReduce and WarpReduce. Algorithms of the whole device run on the host.
#pragma once

#include <cuda_runtime.h>

#include <bankwise/emulator/cuda/not_emulated.hpp>

#if defined(__CUDACC__) && !defined(BANKWISE_HIP) && __has_include(<cub/block/block_raking_layout.cuh>)
#define BANKWISE_TOOLKIT_CUB
// clang-format off
#include <cub/config.cuh>
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>
#include <cub/thread/thread_load.cuh>
#include <cub/thread/thread_operators.cuh>
#include <cub/thread/thread_reduce.cuh>
#include <cub/thread/thread_scan.cuh>
#include <cub/thread/thread_store.cuh>
#include <cub/util_allocator.cuh>
#include <cub/util_ptx.cuh>
#include <cub/util_type.cuh>
// clang-format on
#elif !defined(BANKWISE_HOST_SOURCE)
#include <bankwise/emulator/cuda/block_reduce.hpp>
#endif
#include <bankwise/emulator/runtime/device_algorithms.hpp>

namespace cub {

#ifndef BANKWISE_TOOLKIT_CUB

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class...>
inline constexpr bool is_emulated = false;

#define BANKWISE_PRIMITIVE(name)                                     \
  template <class T, auto...>                                        \
  class name {                                                       \
    static_assert(is_emulated<T>, "cub::" #name " is not emulated"); \
                                                                     \
   public:                                                           \
    struct TempStorage {};                                           \
    template <class... Arguments>                                    \
    explicit name(Arguments&&...);                                   \
  };
// clang-format off
BANKWISE_PRIMITIVE(BlockScan) BANKWISE_PRIMITIVE(BlockLoad) BANKWISE_PRIMITIVE(BlockStore)
BANKWISE_PRIMITIVE(BlockExchange) BANKWISE_PRIMITIVE(BlockHistogram) BANKWISE_PRIMITIVE(BlockRadixSort)
BANKWISE_PRIMITIVE(BlockMergeSort) BANKWISE_PRIMITIVE(WarpScan)
#undef BANKWISE_PRIMITIVE
// clang-format on
#endif

#define BANKWISE_CALL(algorithms, name) \
  template <class... Arguments>         \
  __attribute__((__error__("cub::" #algorithms "::" #name " is not emulated"))) static int name(Arguments&&...);
    // clang-format off
struct DeviceMergeSort {
  BANKWISE_CALL(DeviceMergeSort, SortKeys) BANKWISE_CALL(DeviceMergeSort, SortPairs)
  BANKWISE_CALL(DeviceMergeSort, StableSortKeys) BANKWISE_CALL(DeviceMergeSort, StableSortPairs)
};
struct DeviceSegmentedRadixSort {
  BANKWISE_CALL(DeviceSegmentedRadixSort, SortKeys) BANKWISE_CALL(DeviceSegmentedRadixSort, SortPairs)
};
struct DeviceSegmentedSort {
  BANKWISE_CALL(DeviceSegmentedSort, SortKeys) BANKWISE_CALL(DeviceSegmentedSort, SortPairs)
};
// clang-format on
#undef BANKWISE_CALL

#if !defined(BANKWISE_TOOLKIT_CUB) || CUB_VERSION >= 300000  // which has dropped them, but programs still use them
#define BANKWISE_OPERATOR(name, expression)                      \
  struct name {                                                  \
    template <class T>                                           \
    BANKWISE_DEVICE T operator()(const T& a, const T& b) const { \
      return expression;                                         \
    }                                                            \
  };
BANKWISE_OPERATOR(Sum, a + b)
BANKWISE_OPERATOR(Max, a > b ? a : b)
BANKWISE_OPERATOR(Min, a < b ? a : b)
#undef BANKWISE_OPERATOR
#endif

}  // namespace cub
