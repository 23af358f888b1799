// Of CUB, BlockReduce and WarpReduce are emulated. Programs may include its headers, but not use its other primitives.
#pragma once

#include <cuda_runtime.h>

#include <bankwise/emulator/cuda/not_emulated.hpp>
#ifndef BANKWISE_HOST_SOURCE
#include <bankwise/emulator/cuda/block_reduce.hpp>
#endif

namespace cub {

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

#define BANKWISE_CALL(algorithms, name) \
  template <class... Arguments>         \
  __attribute__((__error__("cub::" #algorithms "::" #name " is not emulated"))) static int name(Arguments&&...);
struct DeviceReduce {
  BANKWISE_CALL(DeviceReduce, Reduce) BANKWISE_CALL(DeviceReduce, Sum) BANKWISE_CALL(DeviceReduce, Min)
  BANKWISE_CALL(DeviceReduce, Max) BANKWISE_CALL(DeviceReduce, ArgMin) BANKWISE_CALL(DeviceReduce, ArgMax)
};
struct DeviceScan {
  BANKWISE_CALL(DeviceScan, InclusiveSum) BANKWISE_CALL(DeviceScan, ExclusiveSum)
  BANKWISE_CALL(DeviceScan, InclusiveScan) BANKWISE_CALL(DeviceScan, ExclusiveScan)
};
struct DeviceRadixSort {
  BANKWISE_CALL(DeviceRadixSort, SortKeys) BANKWISE_CALL(DeviceRadixSort, SortKeysDescending)
  BANKWISE_CALL(DeviceRadixSort, SortPairs) BANKWISE_CALL(DeviceRadixSort, SortPairsDescending)
};
struct DeviceSelect {
  BANKWISE_CALL(DeviceSelect, If) BANKWISE_CALL(DeviceSelect, Flagged) BANKWISE_CALL(DeviceSelect, Unique)
};
#undef BANKWISE_CALL
// clang-format on

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

}  // namespace cub
