// Numbers of 8 bits: the types, so that headers compile. Conversions are not emulated.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bankwise/emulator/cuda/not_emulated.hpp>

namespace bankwise::emulator::cuda {

using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

BANKWISE_NONE_OF(__nv_fp8_storage_t, __nv_cvt_float_to_fp8, __nv_cvt_double_to_fp8, __nv_cvt_halfraw_to_fp8,
                 __nv_cvt_bfloat16raw_to_fp8)
BANKWISE_NOT_EMULATED(__half_raw, __nv_cvt_fp8_to_halfraw)
BANKWISE_NOT_EMULATED(__half2_raw, __nv_cvt_fp8x2_to_halfraw2)
BANKWISE_NOT_EMULATED(float, fp8_as_float)

#define BANKWISE_FP8(name, storage)                                      \
  struct name {                                                          \
    name() = default;                                                    \
    template <class T>                                                   \
    explicit name(const T& value) : __x(storage(fp8_as_float(value))) {} \
    explicit operator float() const { return fp8_as_float(__x); }        \
    storage __x;                                                         \
  };
BANKWISE_FP8(__nv_fp8_e4m3, __nv_fp8_storage_t)
BANKWISE_FP8(__nv_fp8_e5m2, __nv_fp8_storage_t)
BANKWISE_FP8(__nv_fp8_e8m0, __nv_fp8_storage_t)
BANKWISE_FP8(__nv_fp8x2_e4m3, __nv_fp8x2_storage_t)
BANKWISE_FP8(__nv_fp8x2_e5m2, __nv_fp8x2_storage_t)
BANKWISE_FP8(__nv_fp8x4_e4m3, __nv_fp8x4_storage_t)
BANKWISE_FP8(__nv_fp8x4_e5m2, __nv_fp8x4_storage_t)

}  // namespace bankwise::emulator::cuda
