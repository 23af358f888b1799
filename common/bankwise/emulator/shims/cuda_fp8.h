// Numbers of 8 bits. Those of scales (e8m0) are types, so that headers compile.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include <bankwise/emulator/cuda/not_emulated.hpp>

namespace bankwise::emulator::cuda {

using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
/// As device::ByteFormat; the last two are HIP's.
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2, bankwise_e4m3_fnuz, bankwise_e5m2_fnuz };

#define BANKWISE_TO_FP8(from, type, pair, value)                                                         \
  BANKWISE_DEVICE __nv_fp8_storage_t __nv_cvt_##from##_to_fp8(type a, __nv_saturation_t limit,           \
                                                              __nv_fp8_interpretation_t format) {        \
    return device::byte_from(static_cast<device::ByteFormat>(format), value, limit == __NV_SATFINITE);   \
  }                                                                                                      \
  BANKWISE_DEVICE __nv_fp8x2_storage_t __nv_cvt_##from##2_to_fp8x2(pair two, __nv_saturation_t limit,    \
                                                                   __nv_fp8_interpretation_t format) {   \
    const auto low = __nv_cvt_##from##_to_fp8(two.x, limit, format);                                     \
    return static_cast<__nv_fp8x2_storage_t>(low | __nv_cvt_##from##_to_fp8(two.y, limit, format) << 8); \
  }
BANKWISE_TO_FP8(double, double, double2, a)
BANKWISE_TO_FP8(float, float, float2, a)
BANKWISE_TO_FP8(halfraw, __half_raw, __half2, float(__half(a)))
BANKWISE_TO_FP8(bfloat16raw, __nv_bfloat16_raw, __nv_bfloat162, float(__nv_bfloat16(a)))
#undef BANKWISE_TO_FP8

BANKWISE_DEVICE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t a, __nv_fp8_interpretation_t format) {
  return __half(device::byte_to_float(static_cast<device::ByteFormat>(format), a));
}
BANKWISE_DEVICE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t a, __nv_fp8_interpretation_t format) {
  return {__nv_cvt_fp8_to_halfraw(a & 0xFF, format).x, __nv_cvt_fp8_to_halfraw(a >> 8, format).x};
}

/// Of numbers of any type.
template <class T>
BANKWISE_DEVICE __nv_fp8_storage_t fp8_of(const T& value, __nv_fp8_interpretation_t format) {
  if constexpr (std::is_class_v<T>) {
    return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, format);
  } else {
    return __nv_cvt_double_to_fp8(value, __NV_SATFINITE, format);
  }
}
template <class T>
BANKWISE_DEVICE __nv_fp8x2_storage_t fp8_of_two(const T& a, const T& b, __nv_fp8_interpretation_t format) {
  return static_cast<__nv_fp8x2_storage_t>(fp8_of(a, format) | fp8_of(b, format) << 8);
}

#define BANKWISE_FP8(type, format)                                                                           \
  struct __nv_fp8_##type {                                                                                   \
    __nv_fp8_##type() = default;                                                                             \
    template <class T>                                                                                       \
    BANKWISE_DEVICE explicit __nv_fp8_##type(const T& value) : __x(fp8_of(value, format)) {}                 \
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>                                    \
    BANKWISE_DEVICE explicit operator T() const {                                                            \
      const __half value(__nv_cvt_fp8_to_halfraw(__x, format));                                              \
      if constexpr (std::is_integral_v<T>) return static_cast<T>(value);                                     \
      return static_cast<float>(value);                                                                      \
    }                                                                                                        \
    __nv_fp8_storage_t __x;                                                                                  \
  };                                                                                                         \
  struct __nv_fp8x2_##type {                                                                                 \
    __nv_fp8x2_##type() = default;                                                                           \
    template <class T>                                                                                       \
    BANKWISE_DEVICE explicit __nv_fp8x2_##type(const T& pair) : __x(fp8_of_two(pair.x, pair.y, format)) {}   \
    BANKWISE_DEVICE explicit operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, format); }    \
    BANKWISE_DEVICE explicit operator float2() const { return __half22float2(static_cast<__half2>(*this)); } \
    __nv_fp8x2_storage_t __x;                                                                                \
  };                                                                                                         \
  struct __nv_fp8x4_##type {                                                                                 \
    __nv_fp8x4_##type() = default;                                                                           \
    template <class T>                                                                                       \
    BANKWISE_DEVICE explicit __nv_fp8x4_##type(const T& four)                                                \
        : __x(fp8_of_two(four.x, four.y, format) | unsigned(fp8_of_two(four.z, four.w, format)) << 16) {}    \
    template <class T>                                                                                       \
    BANKWISE_DEVICE __nv_fp8x4_##type(const T& low, const T& high)                                           \
        : __x(fp8_of_two(low.x, low.y, format) | unsigned(fp8_of_two(high.x, high.y, format)) << 16) {}      \
    BANKWISE_DEVICE explicit operator float4() const {                                                       \
      const float2 low = __half22float2(__nv_cvt_fp8x2_to_halfraw2(__x & 0xFFFF, format)),                   \
                   high = __half22float2(__nv_cvt_fp8x2_to_halfraw2(__x >> 16, format));                     \
      return {low.x, low.y, high.x, high.y};                                                                 \
    }                                                                                                        \
    __nv_fp8x4_storage_t __x;                                                                                \
  };
BANKWISE_FP8(e4m3, __NV_E4M3)
BANKWISE_FP8(e5m2, __NV_E5M2)
BANKWISE_FP8(e4m3_fnuz, bankwise_e4m3_fnuz)
BANKWISE_FP8(e5m2_fnuz, bankwise_e5m2_fnuz)
#undef BANKWISE_FP8

BANKWISE_NOT_EMULATED(float, e8m0_as_float)
struct __nv_fp8_e8m0 {
  __nv_fp8_e8m0() = default;
  template <class T>
  explicit __nv_fp8_e8m0(const T& value) : __x(__nv_fp8_storage_t(e8m0_as_float(value))) {}
  explicit operator float() const { return e8m0_as_float(__x); }
  __nv_fp8_storage_t __x;
};

}  // namespace bankwise::emulator::cuda
