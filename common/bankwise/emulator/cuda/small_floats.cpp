// Half precision and bfloat16. Compiled without instrumentation.
#include <cmath>

#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/cuda/math.hpp>
#include <bankwise/emulator/cuda/small_float_bits.hpp>

namespace bankwise::emulator::device {
namespace {

using small_floats::nan_bits;
using small_floats::rounded;
using small_floats::SmallFloat;
using small_floats::value_of;

double reciprocal(double x) { return 1 / x; }
double ten_to_the(double x) { return std::pow(10.0, x); }

// In the order of Unary. A double is exact enough to be rounded to 16 bits once more.
using Function = double (*)(double);
constexpr Function functions[]{std::sqrt,  reciprocal_root, reciprocal, std::log,      std::log2, std::log10,
                               std::exp,   std::exp2,       ten_to_the, std::cos,      std::sin,  std::tanh,
                               std::trunc, std::ceil,       std::floor, std::nearbyint};

bool is_nan(FloatFormat format, SmallFloat a) { return (a & 0x7FFF) > small_floats::layout_of(format).infinity(); }

/// -0 is less than +0.
SmallFloat extreme(FloatFormat format, SmallFloat a, SmallFloat b, bool greatest, bool keeps_nan) {
  const bool a_nan = is_nan(format, a), b_nan = is_nan(format, b);
  if (a_nan || b_nan) return keeps_nan || (a_nan && b_nan) ? nan_bits : a_nan ? b : a;
  // Signed integers in the same order.
  const auto order = [](SmallFloat bits) { return (bits & 0x8000) != 0 ? -1 - (bits & 0x7FFF) : int{bits}; };
  return (order(a) > order(b)) == greatest ? a : b;
}

}  // namespace

std::uint16_t small_unary(FloatFormat format, Unary function, std::uint16_t a) noexcept {
  return rounded(format, functions[int(function)](value_of(format, a)), RoundingMode::rn);
}

std::uint16_t small_binary(FloatFormat format, Binary operation, std::uint16_t a, std::uint16_t b) noexcept {
  const double x = value_of(format, a), y = value_of(format, b);
  switch (operation) {
    case Binary::add: return rounded(format, small_floats::to_odd(x, 1, y), RoundingMode::rn);
    case Binary::sub: return rounded(format, small_floats::to_odd(x, 1, -y), RoundingMode::rn);
    case Binary::mul: return rounded(format, x * y, RoundingMode::rn);
    case Binary::div: return rounded(format, x / y, RoundingMode::rn);
    case Binary::maximum: return extreme(format, a, b, true, false);
    case Binary::minimum: return extreme(format, a, b, false, false);
    case Binary::maximum_nan: return extreme(format, a, b, true, true);
    case Binary::minimum_nan: return extreme(format, a, b, false, true);
  }
  return nan_bits;
}

std::uint16_t small_fma(FloatFormat format, std::uint16_t a, std::uint16_t b, std::uint16_t c) noexcept {
  return rounded(format, small_floats::to_odd(value_of(format, a), value_of(format, b), value_of(format, c)),
                 RoundingMode::rn);
}

std::uint16_t small_limit(FloatFormat format, Limit limit, std::uint16_t a) noexcept {
  const SmallFloat one = rounded(format, 1.0, RoundingMode::rn);
  if (is_nan(format, a)) return limit == Limit::to_unit_interval ? 0 : nan_bits;
  if ((a & 0x8000) != 0) return 0;
  return limit == Limit::to_unit_interval && a > one ? one : a;
}

float small_to_float(FloatFormat format, std::uint16_t a) noexcept {
  if (format == FloatFormat::bfloat16) return std::bit_cast<float>(std::uint32_t(a) << 16);
  return float(value_of(format, a));
}
std::uint16_t small_from(FloatFormat format, RoundingMode mode, double value) noexcept {
  // The usual case: the upper half of a float, rounded to the nearest.
  if (format == FloatFormat::bfloat16 && mode == RoundingMode::rn && double(float(value)) == value) {
    const auto bits = std::bit_cast<std::uint32_t>(float(value));
    return std::uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
  }
  return rounded(format, value, mode);
}
std::uint16_t small_from_integer(FloatFormat format, RoundingMode mode, long long value) noexcept {
  const auto magnitude = value < 0 ? 0 - std::uint64_t(value) : std::uint64_t(value);
  return rounded(format, value < 0, magnitude, 0, mode);
}
std::uint16_t small_from_integer(FloatFormat format, RoundingMode mode, unsigned long long value) noexcept {
  return rounded(format, false, value, 0, mode);
}

std::uint64_t small_to_integer(FloatFormat format, RoundingMode mode, std::uint16_t a, unsigned bits,
                               bool is_signed) noexcept {
  return small_floats::to_integer(value_of(format, a), mode, bits, is_signed, false);
}

float byte_to_float(ByteFormat format, std::uint8_t a) noexcept {
  return float(value_of(small_floats::byte_layouts[int(format)], a));
}
std::uint8_t byte_from(ByteFormat format, double value, bool saturates) noexcept {
  return small_floats::byte_rounded(small_floats::byte_layouts[int(format)], value, saturates);
}

std::uint32_t small_atomic_add(FloatFormat format, void* address, std::uint32_t value, unsigned bytes) noexcept {
  return small_atomic_add_from(format, address, value, bytes, __builtin_return_address(0));
}

std::uint32_t small_atomic_add_from(FloatFormat format, void* address, std::uint32_t value, unsigned bytes,
                                    const void* caller) noexcept {
  // The device has no such instruction for shared memory: a loop of compare-and-swaps.
  before_atomic(banks::Operation::atomic, true, address, bytes, caller);
  const auto sum = [&](std::uint32_t old) {
    const auto low = small_binary(format, Binary::add, SmallFloat(old), SmallFloat(value));
    const auto high = small_binary(format, Binary::add, SmallFloat(old >> 16), SmallFloat(value >> 16));
    return std::uint32_t(high) << 16 | low;
  };
  if (bytes == 2)
    return change_atomically(static_cast<std::uint16_t*>(address), [&](auto old) { return std::uint16_t(sum(old)); });
  return change_atomically(static_cast<std::uint32_t*>(address), sum);
}

}  // namespace bankwise::emulator::device
