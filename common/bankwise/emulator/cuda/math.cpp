// SPDX-License-Identifier: MIT
//
// CUDA's arithmetic without a short counterpart on the host. Compiled without instrumentation.
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <bankwise/emulator/cuda/math.hpp>
#include <bankwise/emulator/cuda/small_float_bits.hpp>

namespace bankwise::emulator::device {
namespace {

using small_floats::in_mode;
using small_floats::opaque;

/// To a floating-point number.
template <class Result, class Argument>
Result convert(Argument value, RoundingMode mode) {
  if constexpr (std::is_floating_point_v<Result>) {
    return in_mode(mode, [&] { return Result(opaque(value)); });
  } else {
    // NaN becomes 0, or the highest bit if 64 bits are involved; values that are too large become the largest.
    if (std::isnan(value)) {
      return sizeof(Argument) < 8 && sizeof(Result) < 8 ? 0 : Result(std::uint64_t{1} << (8 * sizeof(Result) - 1));
    }
    constexpr auto lowest = Argument(std::numeric_limits<Result>::min());
    const Argument beyond = std::ldexp(Argument(1), std::numeric_limits<Result>::digits);
    const Argument whole = in_mode(mode, [&] { return std::nearbyint(opaque(value)); });
    if (whole < lowest) return std::numeric_limits<Result>::min();
    if (whole >= beyond) return std::numeric_limits<Result>::max();
    return Result(whole);
  }
}

}  // namespace

#define BANKWISE_DEFINE(name, mode, result, argument) \
  result name##_##mode(argument value) noexcept { return convert<result>(value, RoundingMode::mode); }
BANKWISE_CONVERSIONS(BANKWISE_DEFINE)
#undef BANKWISE_DEFINE

namespace {

// The operations by CUDA's names, for both types.
constexpr auto exact__fadd = [](auto a, auto b) { return a + b; };
constexpr auto exact__fsub = [](auto a, auto b) { return a - b; };
constexpr auto exact__fmul = [](auto a, auto b) { return a * b; };
constexpr auto exact__fdiv = [](auto a, auto b) { return a / b; };
constexpr auto exact__fmaf = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
constexpr auto exact__frcp = [](auto a) { return 1 / a; };
constexpr auto exact__fsqrt = [](auto a) { return std::sqrt(a); };
constexpr auto exact__dadd = exact__fadd;
constexpr auto exact__dsub = exact__fsub;
constexpr auto exact__dmul = exact__fmul;
constexpr auto exact__ddiv = exact__fdiv;
constexpr auto exact__fma = exact__fmaf;
constexpr auto exact__drcp = exact__frcp;
constexpr auto exact__dsqrt = exact__fsqrt;

}  // namespace

#define BANKWISE_GIVES_1 (opaque(a))
#define BANKWISE_GIVES_2 (opaque(a), opaque(b))
#define BANKWISE_GIVES_3 (opaque(a), opaque(b), opaque(c))
#define BANKWISE_DEFINE(name, mode, type, arguments)                                            \
  type name##_##mode BANKWISE_TAKES_##arguments(type) noexcept {                                \
    return in_mode(RoundingMode::mode, [&] { return exact##name BANKWISE_GIVES_##arguments; }); \
  }
BANKWISE_ROUNDED(BANKWISE_DEFINE)
#undef BANKWISE_DEFINE

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

unsigned permute_bytes(unsigned low, unsigned high, unsigned selector) noexcept {
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

int dot_of_bytes(int a, int b, int sum) noexcept {
  auto total = unsigned(sum);
  for (int byte = 0; byte < 32; byte += 8) total += unsigned(std::int8_t(a >> byte) * std::int8_t(b >> byte));
  return int(total);
}

unsigned dot_of_bytes(unsigned a, unsigned b, unsigned sum) noexcept {
  for (int byte = 0; byte < 32; byte += 8) sum += (a >> byte & 0xFF) * (b >> byte & 0xFF);
  return sum;
}

}  // namespace bankwise::emulator::device
