// SPDX-License-Identifier: MIT
//
// Warp intrinsics without a mask, which CUDA has for compute capabilities below 7.0: of the lanes that execute the call
// together.
#pragma once

#include <bankwise/emulator/cuda/warp.hpp>

namespace bankwise::emulator::cuda {

#define BANKWISE_SHUFFLE(name, Argument)                                \
  template <class T>                                                    \
  BANKWISE_DEVICE auto name(T value, Argument argument, int width = 32) \
      ->decltype(name##_sync(0U, value, argument, width)) {             \
    return name##_sync(__activemask(), value, argument, width);         \
  }
BANKWISE_SHUFFLE(__shfl, int)
BANKWISE_SHUFFLE(__shfl_up, unsigned)
BANKWISE_SHUFFLE(__shfl_down, unsigned)
BANKWISE_SHUFFLE(__shfl_xor, int)
#undef BANKWISE_SHUFFLE

BANKWISE_DEVICE int __all(int predicate) {
  return __all_sync(__activemask(), predicate);
}
BANKWISE_DEVICE int __any(int predicate) {
  return __any_sync(__activemask(), predicate);
}
BANKWISE_DEVICE unsigned __ballot(int predicate) {
  return __ballot_sync(__activemask(), predicate);
}

}  // namespace bankwise::emulator::cuda

using namespace bankwise::emulator::cuda;
