// Thrust's, which chooses when it is compiled: a radix sort for the host, a merge sort for kernels. Here one code is
// for both, so each call chooses.
#include <nv/target>
#include <thrust/reverse.h>
#include <thrust/system/detail/sequential/stable_merge_sort.h>
#include <thrust/system/detail/sequential/stable_primitive_sort.h>

#include <bankwise/emulator/runtime/launching.hpp>

#pragma push_macro("NV_IF_TARGET")
#undef NV_IF_TARGET
#define BANKWISE_BARE(...) __VA_ARGS__
#define NV_IF_TARGET(target, of_host, of_device) \
  if (bankwise_runtime::in_kernel()) {           \
    BANKWISE_BARE of_device                      \
  } else {                                       \
    BANKWISE_BARE of_host                        \
  }
#include_next <thrust/system/detail/sequential/sort.inl>
#undef BANKWISE_BARE
#pragma pop_macro("NV_IF_TARGET")
