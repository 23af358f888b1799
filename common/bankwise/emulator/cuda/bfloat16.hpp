// bfloat16: cuda_bf16.h.
#pragma once

#define BANKWISE_ONE bfloat16
#define BANKWISE_TWO bfloat162
#define BANKWISE_T __nv_bfloat16
#define BANKWISE_T2 __nv_bfloat162
#define BANKWISE_FORMAT bfloat16
#include <bankwise/emulator/cuda/small_floats.hpp>

namespace bankwise::emulator::cuda {

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
#ifndef BANKWISE_HIP  // which lacks it, so that programs define it
BANKWISE_DEVICE __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
#endif

}  // namespace bankwise::emulator::cuda
