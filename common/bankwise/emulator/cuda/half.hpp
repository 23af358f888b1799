// Half precision: cuda_fp16.h.
#pragma once

#define BANKWISE_ONE half
#define BANKWISE_TWO half2
#define BANKWISE_T __half
#define BANKWISE_T2 __half2
#define BANKWISE_FORMAT half
#include <bankwise/emulator/cuda/small_floats.hpp>

namespace bankwise::emulator::cuda {

using half = __half;
using half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;
BANKWISE_DEVICE __half2 make_half2(__half x, __half y) { return {x, y}; }

}  // namespace bankwise::emulator::cuda
