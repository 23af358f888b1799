// CUDA's arithmetic without a short counterpart on the host. Compiled without instrumentation.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <bankwise/emulator/cuda/small_float_bits.hpp>
#include <bankwise/emulator/cuda/special_functions.hpp>

namespace bankwise::emulator::cuda {
namespace {

using device::RoundingMode;
using small_floats::in_mode;
using small_floats::opaque;

template <class Result, class Argument>
Result convert(Argument value, RoundingMode mode) {
  if constexpr (std::is_floating_point_v<Result>) {
    return in_mode(mode, [&] { return Result(opaque(value)); });
  } else {
    constexpr unsigned bits = 8 * sizeof(Result);
    return Result(small_floats::to_integer(value, mode, bits, std::is_signed_v<Result>, sizeof(Argument) == 8));
  }
}

}  // namespace

#define BANKWISE_DEFINE(name, mode, result, argument) \
  result name##_##mode(argument value) noexcept { return convert<result>(value, RoundingMode::mode); }
BANKWISE_CONVERSIONS(BANKWISE_DEFINE)
#undef BANKWISE_DEFINE

#define BANKWISE_HIDE_1 a = opaque(a)
#define BANKWISE_HIDE_2 BANKWISE_HIDE_1, b = opaque(b)
#define BANKWISE_HIDE_3 BANKWISE_HIDE_2, c = opaque(c)
#define BANKWISE_DEFINE(name, mode, type, arguments, result)                                 \
  type name##_##mode BANKWISE_TAKES_##arguments(type) noexcept {                             \
    return in_mode(RoundingMode::mode, [&] { return BANKWISE_HIDE_##arguments, (result); }); \
  }
BANKWISE_ROUNDED(BANKWISE_DEFINE)
#undef BANKWISE_DEFINE

unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) noexcept {
  const std::uint64_t bytes = std::uint64_t{high} << 32 | low;
  unsigned result = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    const unsigned nibble = selector >> (4 * byte);
    const std::uint64_t chosen = bytes >> (8 * (nibble & 7)) & 0xFF;
    // The hardware spreads the sign where the nibble's highest bit is set.
    const std::uint64_t value = (nibble & 8) == 0 ? chosen : (chosen & 0x80) != 0 ? 0xFF : 0;
    result |= unsigned(value) << (8 * byte);
  }
  return result;
}

unsigned __fns(unsigned mask, unsigned base, int n) noexcept {
  const int step = n < 0 ? -1 : 1;
  int left = n == 0 ? 1 : std::abs(n);
  for (int bit = int(base & 31); bit >= 0 && bit < 32; bit += step) {
    if ((mask >> bit & 1) != 0 && --left == 0) return unsigned(bit);
    if (n == 0) break;
  }
  return ~0u;
}

double norm(int count, const double* values) noexcept {
  long double sum = 0;  // its exponent has more bits
  for (int i = 0; i < count; ++i) sum += static_cast<long double>(values[i]) * values[i];
  return double(std::sqrt(sum));
}

}  // namespace bankwise::emulator::cuda

namespace bankwise::emulator::device {

float reciprocal_root(float x) noexcept { return float(1 / std::sqrt(double(x))); }
double reciprocal_root(double x) noexcept { return 1 / std::sqrt(x); }

double sine_of_pi_times(double x) noexcept {
  const double rest = std::remainder(x, 2.0);  // -1 to 1, exact
  const double sign = std::signbit(rest) ? -1 : 1, turn = std::fabs(rest);
  // From the nearest multiple of a quarter of the circle, so zeros are exact.
  if (turn <= 0.25) return sign * std::sin(M_PI * turn);
  if (turn < 0.75) return sign * std::cos(M_PI * (turn - 0.5));
  return sign * std::sin(M_PI * (1 - turn));
}

double cosine_of_pi_times(double x) noexcept {
  const double turn = std::fabs(std::remainder(x, 2.0));
  if (turn <= 0.25) return std::cos(M_PI * turn);
  if (turn < 0.75) return std::sin(M_PI * (0.5 - turn));
  return -std::cos(M_PI * (1 - turn));
}

unsigned dot_of_bytes(unsigned a, bool a_signed, unsigned b, bool b_signed, unsigned sum) noexcept {
  const auto byte = [](unsigned bits, bool is_signed) { return is_signed ? unsigned(std::int8_t(bits)) : bits & 0xFF; };
  for (int shift = 0; shift < 32; shift += 8) sum += byte(a >> shift, a_signed) * byte(b >> shift, b_signed);
  return sum;
}

// --- functions that the C library lacks ---

namespace {

using Long = long double;
constexpr Long root_of_pi = 1.7724538509055160272981674833411452L, root_of_2 = 1.4142135623730950488016887242096981L;

/// x with erfc(x) = y, for 0 < y <= 1, by Newton's method on log(erfc(x)).
Long inverse_of_small(Long y) {
  // Close enough to start from: the leading term for small y, a straight line near 1.
  Long x = y > 0.5L ? (1 - y) * root_of_pi / 2
                    : std::sqrt(std::max(-std::log(y * root_of_pi * std::sqrt(-std::log(y))), 0.1L));
  for (int i = 0; i < 60; ++i) {
    const Long value = std::erfc(x);
    const Long slope = -2 / root_of_pi * std::exp(-x * x);
    const Long step = y > 0.5L ? (value - y) / slope : std::log(value / y) * value / slope;
    x -= step;
    if (std::fabs(step) <= std::fabs(x) * 1e-19L) break;
  }
  return x;
}

/// exp(x * x) * erfc(x)
Long scaled_erfc(Long x) {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  const Long square = x * x;  // the asymptotic series
  return (1 - 1 / (2 * square) * (1 - 3 / (2 * square) * (1 - 5 / (2 * square)))) / (x * root_of_pi);
}

}  // namespace

double erfcinv(double y) noexcept {
  if (!(y >= 0 && y <= 2)) return std::numeric_limits<double>::quiet_NaN();
  if (y == 0) return HUGE_VAL;
  if (y == 2) return -HUGE_VAL;
  return double(y <= 1 ? inverse_of_small(y) : -inverse_of_small(2 - Long(y)));
}
double erfinv(double x) noexcept {
  if (x == 0) return x;
  if (!(x >= -1 && x <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (std::fabs(x) == 1) return std::copysign(HUGE_VAL, x);
  if (std::fabs(x) > 0.5) return std::copysign(double(inverse_of_small(1 - std::fabs(Long(x)))), x);
  // erfc loses the digits of a small number, so Newton's method on erf.
  Long root = x * root_of_pi / 2;
  for (int i = 0; i < 20; ++i) root -= (std::erf(root) - x) * root_of_pi / 2 * std::exp(root * root);
  return double(root);
}
double erfcx(double x) noexcept { return double(scaled_erfc(x)); }
double normcdf(double x) noexcept { return double(std::erfc(-x / root_of_2) / 2); }
double normcdfinv(double p) noexcept {
  if (!(p >= 0 && p <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (p == 0) return -HUGE_VAL;
  if (p == 1) return HUGE_VAL;
  return double(p <= 0.5 ? -root_of_2 * inverse_of_small(2 * Long(p)) : root_of_2 * inverse_of_small(2 - 2 * Long(p)));
}
double rcbrt(double x) noexcept { return 1 / std::cbrt(x); }
double cyl_bessel_i0(double x) noexcept { return std::cyl_bessel_i(0.0, std::fabs(x)); }
double cyl_bessel_i1(double x) noexcept { return std::copysign(std::cyl_bessel_i(1.0, std::fabs(x)), x); }

unsigned dot_of_halves(unsigned a, unsigned b, unsigned sum, bool is_signed, bool upper) noexcept {
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned half = a >> (16 * i) & 0xFFFF, byte = b >> (8 * i + (upper ? 16 : 0)) & 0xFF;
    sum += is_signed ? unsigned(std::int16_t(half) * std::int8_t(byte)) : half * byte;
  }
  return sum;
}

// --- several integers in a word ---

unsigned simd(Simd operation, unsigned count, unsigned a, unsigned b) noexcept {
  const unsigned bits = 32 / count;
  const int ones = int((1u << bits) - 1), greatest = ones >> 1, least = -greatest - 1;
  const auto all_if = [&](bool yes) { return yes ? ones : 0; };
  const auto as_signed = [&](int x) { return x > greatest ? x - ones - 1 : x; };
  // Of two numbers, x and y as unsigned, p and q as signed ones.
  const auto result_of = [&](int x, int y, int p, int q) {
    switch (operation) {
      case Simd::add: return x + y;
      case Simd::addss: return std::clamp(p + q, least, greatest);
      case Simd::addus: return std::min(x + y, ones);
      case Simd::sub: return x - y;
      case Simd::subss: return std::clamp(p - q, least, greatest);
      case Simd::subus: return std::max(x - y, 0);
      case Simd::avgs: return (p + q + (p + q >= 0 ? 1 : 0)) >> 1;  // halves away from zero
      case Simd::avgu: return (x + y + 1) >> 1;
      case Simd::haddu: return (x + y) >> 1;
      case Simd::maxs: return std::max(p, q);
      case Simd::maxu: return std::max(x, y);
      case Simd::mins: return std::min(p, q);
      case Simd::minu: return std::min(x, y);
      case Simd::absdiffs: return std::abs(p - q);
      case Simd::absdiffu: return std::abs(x - y);
      case Simd::cmpeq: return all_if(x == y);
      case Simd::cmpne: return all_if(x != y);
      case Simd::cmpges: return all_if(p >= q);
      case Simd::cmpgeu: return all_if(x >= y);
      case Simd::cmpgts: return all_if(p > q);
      case Simd::cmpgtu: return all_if(x > y);
      case Simd::cmples: return all_if(p <= q);
      case Simd::cmpleu: return all_if(x <= y);
      case Simd::cmplts: return all_if(p < q);
      case Simd::cmpltu: return all_if(x < y);
    }
    return 0;
  };
  unsigned result = 0;
  for (unsigned shift = 0; shift < 32; shift += bits) {
    const int x = int(a >> shift) & ones, y = int(b >> shift) & ones;
    result |= unsigned(result_of(x, y, as_signed(x), as_signed(y)) & ones) << shift;
  }
  return result;
}

unsigned simd_sum(unsigned count, unsigned a) noexcept {
  const unsigned bits = 32 / count;
  unsigned sum = 0;
  for (unsigned i = 0; i < count; ++i) sum += a >> (i * bits) & ((1u << bits) - 1);
  return sum;
}

}  // namespace bankwise::emulator::device
