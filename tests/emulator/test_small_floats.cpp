// Numbers of 8 bits, and half precision and bfloat16: all 65,536 values of each function with one operand, compared
// with a second implementation that looks results up in a sorted table of all values.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>
#include "tests/catch_any.hpp"

namespace {

using Quad = __float128;  // holds sums and products of halves exactly

/// The values of a format, in order.
class Table {
 public:
  Table(int fraction, int exponents) : fraction_(fraction), infinity_(unsigned(exponents - 1) << fraction) {
    for (unsigned bits = 0; bits <= infinity_; ++bits) {
      const unsigned stored = bits >> fraction;
      const double digits = double(bits & ((1u << fraction) - 1)) / double(1u << fraction);
      const int bias = exponents / 2 - 1;
      values_.push_back(stored == 0 ? std::pow(2.0, 1 - bias) * digits
                                    : std::pow(2.0, int(stored) - bias) * (1 + digits));
    }
  }
  unsigned infinity() const { return infinity_; }
  double value(unsigned bits) const {
    const unsigned magnitude = bits & 0x7FFF;
    if (magnitude > infinity_) return std::numeric_limits<double>::quiet_NaN();
    const double value = magnitude == infinity_ ? HUGE_VAL : values_[magnitude];
    return (bits & 0x8000) != 0 ? -value : value;
  }
  /// Rounds to nearest, to even in the middle. Beyond the largest value, infinity stands for the power of two.
  unsigned nearest(Quad exact) const {
    if (exact != exact) return 0x7FFF;
    const unsigned sign = std::signbit(double(exact)) ? 0x8000 : 0;
    const Quad magnitude = exact < 0 ? -exact : exact;
    const unsigned above = unsigned(std::lower_bound(values_.begin(), values_.end(), magnitude) - values_.begin());
    if (above == values_.size()) return sign | infinity_;
    if (above == 0 || Quad(values_[above]) == magnitude) return sign | above;
    const Quad middle = (Quad(values_[above - 1]) + Quad(values_[above])) / 2;
    const bool down = magnitude < middle || (magnitude == middle && above % 2 == 1);
    return sign | (down ? above - 1 : above);
  }
  unsigned towards_zero(double exact) const {
    const auto above = std::upper_bound(values_.begin(), values_.end() - 1, std::fabs(exact)) - values_.begin();
    return (std::signbit(exact) ? 0x8000u : 0u) | unsigned(above - 1);
  }
  /// A value between two neighbours, in 4 places.
  std::vector<float> between(unsigned bits) const {
    const auto low = float(values_[bits]), high = float(values_[bits + 1]), middle = low + (high - low) / 2;
    return {low,    std::nextafter(low, high),    std::nextafter(middle, low),
            middle, std::nextafter(middle, high), std::nextafter(high, low)};
  }

 private:
  int fraction_;
  unsigned infinity_;
  std::vector<double> values_;
};

/// The functions of a format, which CUDA calls `half`.
#define FORMAT(Name, half, type, fraction, exponents)                                    \
  struct Name {                                                                          \
    using Type = type;                                                                   \
    inline static const Table table{fraction, exponents};                                \
    static Type make(unsigned bits) { return __ushort_as_##half((unsigned short)bits); } \
    static unsigned bits(Type a) { return __##half##_as_ushort(a); }                     \
    static Type rn(float a) { return __float2##half##_rn(a); }                           \
    static Type rz(float a) { return __float2##half##_rz(a); }                           \
    static Type ru(float a) { return __float2##half##_ru(a); }                           \
    static Type rd(float a) { return __float2##half##_rd(a); }                           \
    static int to_int(Type a) { return __##half##2int_rn(a); }                           \
    static unsigned long long to_ull(Type a) { return __##half##2ull_ru(a); }            \
    static short to_short(Type a) { return __##half##2short_rd(a); }                     \
    static Type from_int(int a) { return __int2##half##_rn(a); }                         \
    static Type from_ull(unsigned long long a) { return __ull2##half##_rn(a); }          \
  };
FORMAT(Half, half, __half, 10, 32)
FORMAT(Bfloat16, bfloat16, __nv_bfloat16, 7, 256)
#undef FORMAT

/// Counts differences, because 65,536 assertions take long.
template <class F, class Function, class Reference>
unsigned wrong(Function function, Reference reference) {
  unsigned count = 0;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const unsigned result = F::bits(function(F::make(bits)));
    count += result != F::table.nearest(Quad(reference((long double)(F::table.value(bits)))));
  }
  return count;
}

template <class Result>
Result clamped(double whole) {
  if (whole != whole) return Result(sizeof(Result) == 8 ? std::uint64_t{1} << 63 : 0);
  if (whole >= std::ldexp(1.0, std::numeric_limits<Result>::digits)) return std::numeric_limits<Result>::max();
  if (whole < double(std::numeric_limits<Result>::min())) return std::numeric_limits<Result>::min();
  return Result(whole);
}

}  // namespace

TEMPLATE_TEST_CASE("emulator/small_floats/one_argument", "", Half, Bfloat16) {
  using F = TestType;
  using T = typename F::Type;
  using L = long double;
  CHECK(wrong<F>([](T a) { return hsqrt(a); }, [](L a) { return std::sqrt(a); }) == 0);
  CHECK(wrong<F>([](T a) { return hrsqrt(a); }, [](L a) { return 1 / std::sqrt(a); }) == 0);
  CHECK(wrong<F>([](T a) { return hrcp(a); }, [](L a) { return 1 / a; }) == 0);
  CHECK(wrong<F>([](T a) { return hexp(a); }, [](L a) { return std::exp(a); }) == 0);
  CHECK(wrong<F>([](T a) { return hexp2(a); }, [](L a) { return std::exp2(a); }) == 0);
  CHECK(wrong<F>([](T a) { return hexp10(a); }, [](L a) { return std::pow(L(10), a); }) == 0);
  CHECK(wrong<F>([](T a) { return hlog(a); }, [](L a) { return std::log(a); }) == 0);
  CHECK(wrong<F>([](T a) { return hlog2(a); }, [](L a) { return std::log2(a); }) == 0);
  CHECK(wrong<F>([](T a) { return hlog10(a); }, [](L a) { return std::log10(a); }) == 0);
  CHECK(wrong<F>([](T a) { return hsin(a); }, [](L a) { return std::sin(a); }) == 0);
  CHECK(wrong<F>([](T a) { return hcos(a); }, [](L a) { return std::cos(a); }) == 0);
  CHECK(wrong<F>([](T a) { return htanh(a); }, [](L a) { return std::tanh(a); }) == 0);
  CHECK(wrong<F>([](T a) { return htrunc(a); }, [](L a) { return std::trunc(a); }) == 0);
  CHECK(wrong<F>([](T a) { return hceil(a); }, [](L a) { return std::ceil(a); }) == 0);
  CHECK(wrong<F>([](T a) { return hfloor(a); }, [](L a) { return std::floor(a); }) == 0);
  CHECK(wrong<F>([](T a) { return hrint(a); }, [](L a) { return std::nearbyint(a); }) == 0);
  CHECK(wrong<F>([](T a) { return a * T(1.0f); }, [](L a) { return a; }) == 0);
}

TEMPLATE_TEST_CASE("emulator/small_floats/conversions", "", Half, Bfloat16) {
  using F = TestType;
  unsigned unequal = 0, wrong_integers = 0;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const double exact = F::table.value(bits);
    const float value = F::make(bits);
    unequal += value != float(exact) && (value == value || exact == exact);
    wrong_integers += F::to_int(F::make(bits)) != clamped<int>(std::nearbyint(exact));
    wrong_integers += F::to_ull(F::make(bits)) != clamped<unsigned long long>(std::ceil(exact));
    wrong_integers += F::to_short(F::make(bits)) != clamped<short>(std::floor(exact));
  }
  CHECK(unequal == 0);
  CHECK(wrong_integers == 0);

  unsigned wrong_modes = 0;
  for (unsigned bits = 0; bits + 1 < F::table.infinity(); ++bits) {
    for (const float magnitude : F::table.between(bits)) {
      for (const float value : {magnitude, -magnitude}) {
        const unsigned down = F::table.towards_zero(value), up = down + (F::table.value(down) != value);
        wrong_modes += F::bits(F::rn(value)) != F::table.nearest(Quad(value));
        wrong_modes += F::bits(F::rz(value)) != down;
        wrong_modes += F::bits(F::ru(value)) != (value > 0 ? up : down);
        wrong_modes += F::bits(F::rd(value)) != (value > 0 ? down : up);
      }
    }
  }
  CHECK(wrong_modes == 0);
  CHECK(F::bits(F::rn(std::numeric_limits<float>::max())) == F::table.infinity());
  CHECK(F::bits(F::rz(std::numeric_limits<float>::infinity())) == F::table.infinity());

  std::mt19937_64 random(1);
  unsigned wrong_from = 0;
  for (unsigned i = 0; i < 100'000; ++i) {
    const std::uint64_t any = random() >> random() % 64;
    const int small = int(any);
    wrong_from += F::bits(F::from_int(small)) != F::table.nearest(Quad(small));
    wrong_from += F::bits(F::from_ull(any)) != F::table.nearest(Quad(any));
  }
  CHECK(wrong_from == 0);
}

TEMPLATE_TEST_CASE("emulator/small_floats/arithmetic", "", Half, Bfloat16) {
  using F = TestType;
  using T = typename F::Type;
  std::mt19937 random(2);
  unsigned wrong_sum = 0, wrong_product = 0, wrong_quotient = 0, wrong_fma = 0, wrong_order = 0;
  for (unsigned i = 0; i < 200'000; ++i) {
    // Exponents near 1, with which __float128 holds everything exactly, and cancellation is frequent.
    const auto any = [&] {
      const unsigned bits = unsigned(random());
      return (F::bits(F::rn(1.0f)) + (bits & 0xFFF) - 0x800) | (bits & 0x8000);
    };
    const unsigned a = any(), b = any(), c = any();
    const Quad x = F::table.value(a), y = F::table.value(b), z = F::table.value(c);
    const T p = F::make(a), q = F::make(b), r = F::make(c);
    wrong_sum += F::bits(p + q) != F::table.nearest(x + y) && x != -y;
    wrong_sum += F::bits(__hsub(p, q)) != F::table.nearest(x - y) && x != y;
    wrong_product += F::bits(p * q) != F::table.nearest(x * y);
    wrong_quotient += F::bits(p / q) != F::table.nearest(x / y);
    wrong_fma += F::bits(__hfma(p, q, r)) != F::table.nearest(x * y + z) && x * y != -z;
    wrong_order += (p < q) != (x < y) || (p == q) != (x == y) || __hge(p, q) != (x >= y);
  }
  CHECK(wrong_sum == 0);
  CHECK(wrong_product == 0);
  CHECK(wrong_quotient == 0);
  CHECK(wrong_fma == 0);
  CHECK(wrong_order == 0);
}

TEST_CASE("emulator/small_floats/fma") {
  // 7 * 37 / 256 is half-way between two numbers, of which 130 / 128 is even; what is subtracted is lost in a double.
  const float sum = __hfma(__nv_bfloat16(7), __nv_bfloat16(37.0f / 256), __nv_bfloat16(-0x1p-100f));
  CHECK(sum == 129.0f / 128);
}

TEST_CASE("emulator/small_floats/bytes") {
  struct Format {
    __nv_fp8_interpretation_t name;
    int fraction, bias;
    unsigned largest, overflow;
    bool fnuz;
  };
  for (const Format& format : {Format{__NV_E4M3, 3, 7, 0x7E, 0x7F, false},
                               {__NV_E5M2, 2, 15, 0x7B, 0x7C, false},
                               {bankwise_e4m3_fnuz, 3, 8, 0x7F, 0x80, true},
                               {bankwise_e5m2_fnuz, 2, 16, 0x7F, 0x80, true}}) {
    const auto decoded = [&](unsigned bits) -> float {
      return __half(__nv_cvt_fp8_to_halfraw((unsigned char)bits, format.name));
    };
    const auto encoded = [&](double value, __nv_saturation_t limit = __NV_NOSAT) -> unsigned {
      return __nv_cvt_double_to_fp8(value, limit, format.name);
    };
    unsigned wrong = 0;
    for (unsigned bits = 0; bits <= format.largest; ++bits) {
      const int stored = int(bits >> format.fraction), unit = std::max(stored, 1) - format.bias - format.fraction;
      const double digits = double((stored == 0 ? 0u : 1u << format.fraction) + (bits & ((1u << format.fraction) - 1)));
      const double value = digits * std::pow(2.0, unit), middle = value + std::pow(2.0, unit - 1);
      wrong += decoded(bits) != value || encoded(value) != bits;
      if (bits > 0) wrong += decoded(bits | 0x80) != -value || encoded(-value) != (bits | 0x80);
      wrong += encoded(std::nextafter(middle, 0.0)) != bits;
      if (bits == format.largest) continue;
      wrong += encoded(std::nextafter(middle, 1e9)) != bits + 1 || encoded(middle) != bits + bits % 2;
    }
    CHECK(wrong == 0);
    CHECK(encoded(-0.0) == (format.fnuz ? 0 : 0x80));
    CHECK(encoded(1e9) == format.overflow);
    CHECK(encoded(1e9, __NV_SATFINITE) == format.largest);
    CHECK(encoded(-HUGE_VAL, __NV_SATFINITE) == (format.largest | 0x80));
    CHECK(std::isnan(decoded(encoded(std::nan("")))));
  }
  CHECK(std::isinf(float(__nv_fp8_e5m2(__half(1))) + float(__half(__nv_cvt_fp8_to_halfraw(0xFC, __NV_E5M2)))));
  const __nv_fp8x4_e4m3 four(float4{1, -2, 0.5f, 1000});
  CHECK(four.__x == 0x7E30C038);
  CHECK(float4(four).w == 448);
  CHECK(__nv_fp8x4_e4m3(__floats2half2_rn(1, -2), __floats2half2_rn(0.5f, 3)).__x == 0x4430C038);
  CHECK(float2(__nv_fp8x2_e5m2(__floats2bfloat162_rn(3, -4))).y == -4);
  CHECK(int(__nv_fp8_e4m3(-7.25f)) == -7);
}

TEST_CASE("emulator/small_floats/special_values") {
  const __half nan = Half::make(0x7E00), minus_zero = Half::make(0x8000), zero(0), one(1);
  CHECK(__hisnan(nan));
  CHECK_FALSE(__heq(nan, nan));
  CHECK(__hequ(nan, one));
  CHECK_FALSE(__hne(nan, one));
  CHECK(nan != nan);
  CHECK(Half::bits(__hmax(nan, one)) == Half::bits(one));
  CHECK(Half::bits(__hmax_nan(nan, one)) == 0x7FFF);
  CHECK(Half::bits(__hmax(minus_zero, zero)) == 0);
  CHECK(Half::bits(__hmin(zero, minus_zero)) == 0x8000);
  CHECK(__hisinf(Half::make(0xFC00)) == -1);
  CHECK(float(__hadd_sat(one, one)) == 1);
  CHECK(float(__hsub_sat(zero, one)) == 0);
  CHECK(float(__hfma_relu(one, __half(-3), one)) == 0);
  CHECK(float(__hfma_relu(one, one, one)) == 2);

  const __half2 pair = __floats2half2_rn(3, 4), other = make_half2(__half(1), __half(2));
  const float2 sum = __half22float2(pair + other);
  CHECK(sum.x == 4);
  CHECK(sum.y == 6);
  CHECK(float(__low2half(pair)) == 3);
  CHECK(__high2float(pair) == 4);
  CHECK(float(__lowhigh2highlow(pair).x) == 4);
  CHECK(__half22float2(__lows2half2(pair, other)).y == 1);
  CHECK(__half22float2(__highs2half2(pair, other)).x == 4);
  CHECK(__hgt2_mask(pair, make_half2(__half(3), __half(0))) == 0xFFFF0000u);
  CHECK(float(__hgt2(pair, other).x) == 1);
  CHECK(pair > other);
  // (3 + 4i)(1 + 2i) = -5 + 10i
  const float2 product = __half22float2(__hcmadd(pair, other, make_half2(zero, zero)));
  CHECK(product.x == -5);
  CHECK(product.y == 10);
  CHECK(__bfloat1622float2(__bfloat162bfloat162(__nv_bfloat16(7))).y == 7);
  __half counter(5);
  CHECK(float(counter++) == 5);
  CHECK(float(--counter) == 5);
  CHECK(int(__half(-2.75f)) == -2);
  CHECK(bool(one));
}
