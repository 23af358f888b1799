// Internal to common/bankwise/emulator: floating-point numbers of 16 and 8 bits, and how a GPU rounds to them.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

#include <bankwise/emulator/cuda/small_float_words.hpp>

namespace bankwise::emulator::small_floats {

using device::FloatFormat;
using device::RoundingMode;
using SmallFloat = std::uint16_t;

struct Layout {
  int fraction, bias;  ///< bits after the binary point; the exponent that is stored for 1.0
  constexpr SmallFloat infinity() const { return SmallFloat(0x7FFF >> fraction << fraction); }
};
constexpr Layout layout_of(FloatFormat format) { return format == FloatFormat::half ? Layout{10, 15} : Layout{7, 127}; }
inline constexpr SmallFloat nan_bits = 0x7FFF;  // the only one that a GPU's arithmetic returns

/// magnitude · 2^exponent, rounded once, without its sign, as if the layout had any exponent.
inline std::uint64_t rounded_bits(Layout layout, bool negative, std::uint64_t magnitude, int exponent,
                                  RoundingMode mode) {
  if (magnitude == 0) return 0;
  const int lowest = 1 - layout.bias - layout.fraction;  // exponent of the smallest subnormal number
  const int own = exponent + 63 - std::countl_zero(magnitude) - layout.fraction;
  const int unit = own > lowest ? own : lowest;  // exponent of the result's last bit
  const int drop = unit - exponent;
  std::uint64_t kept = 0, rest = 0;  // rest: in 1/2^63 of the last bit, the lowest bit is sticky
  if (drop <= 0) {
    kept = magnitude << -drop;
  } else if (drop > 63) {
    rest = drop == 64 ? magnitude >> 1 | (magnitude & 1) : 1;
  } else {
    kept = magnitude >> drop;
    rest = magnitude << (64 - drop);
    rest = rest >> 1 | (rest & 1);
  }
  constexpr std::uint64_t half_unit = std::uint64_t{1} << 62;
  const bool up = mode == RoundingMode::rn   ? rest > half_unit || (rest == half_unit && (kept & 1) != 0)
                  : mode == RoundingMode::ru ? rest != 0 && !negative
                                             : mode == RoundingMode::rd && rest != 0 && negative;
  return (std::uint64_t(unit - lowest) << layout.fraction) + kept + (up ? 1 : 0);
}

inline SmallFloat rounded(FloatFormat format, bool negative, std::uint64_t magnitude, int exponent, RoundingMode mode) {
  const Layout layout = layout_of(format);
  const SmallFloat sign = negative ? 0x8000 : 0;
  const std::uint64_t bits = rounded_bits(layout, negative, magnitude, exponent, mode);
  if (bits < layout.infinity()) return SmallFloat(sign | bits);
  const bool to_infinity =
      mode == RoundingMode::rn || (mode == RoundingMode::ru && !negative) || (mode == RoundingMode::rd && negative);
  return SmallFloat(sign | (to_infinity ? layout.infinity() : layout.infinity() - 1));
}

/// A finite double: magnitude · 2^exponent.
struct Parts {
  bool negative;
  std::uint64_t magnitude;
  int exponent;
};
inline Parts parts_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int stored = int(bits >> 52 & 0x7FF);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  return {bits >> 63 != 0, stored == 0 ? fraction : fraction | std::uint64_t{1} << 52,
          (stored == 0 ? 1 : stored) - 1075};
}

inline SmallFloat rounded(FloatFormat format, double value, RoundingMode mode) {
  if (std::isnan(value)) return nan_bits;
  if (std::isinf(value)) return SmallFloat((std::signbit(value) ? 0x8000 : 0) | layout_of(format).infinity());
  const Parts parts = parts_of(value);
  return rounded(format, parts.negative, parts.magnitude, parts.exponent, mode);
}

/// 2^exponent, of a normal double.
constexpr double power_of_two(int exponent) { return std::bit_cast<double>(std::uint64_t(1023 + exponent) << 52); }

/// The exact value.
inline double value_of(FloatFormat format, SmallFloat bits) {
  const Layout layout = layout_of(format);
  const int stored = (bits & 0x7FFF) >> layout.fraction, fraction = bits & ((1 << layout.fraction) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if ((bits & 0x7FFF) >= layout.infinity()) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  const int significand = stored == 0 ? fraction : fraction | 1 << layout.fraction;
  return sign * significand * power_of_two((stored == 0 ? 1 : stored) - layout.bias - layout.fraction);
}

/// A format of 8 bits.
struct ByteLayout {
  Layout layout;
  std::uint8_t largest, overflow, nan;  ///< overflow: what is too large becomes, with its sign
  bool has_negative_zero;
};
inline constexpr ByteLayout byte_layouts[]{{{3, 7}, 0x7E, 0x7F, 0x7F, true},
                                           {{2, 15}, 0x7B, 0x7C, 0x7F, true},
                                           {{3, 8}, 0x7F, 0x80, 0x80, false},
                                           {{2, 16}, 0x7F, 0x80, 0x80, false}};

inline std::uint8_t byte_rounded(const ByteLayout& format, double value, bool saturates) {
  if (std::isnan(value)) return format.nan;
  const Parts parts = parts_of(value);  // infinity is larger than all
  const std::uint64_t bits =
      rounded_bits(format.layout, parts.negative, parts.magnitude, parts.exponent, RoundingMode::rn);
  const std::uint64_t kept = bits <= format.largest ? bits : saturates ? format.largest : format.overflow;
  const bool negative = parts.negative && (kept != 0 || format.has_negative_zero);
  return std::uint8_t(kept | (negative ? 0x80 : 0));
}

inline double value_of(const ByteLayout& format, std::uint8_t bits) {
  const auto [fraction, bias] = format.layout;
  const int magnitude = bits & 0x7F, stored = magnitude >> fraction, rest = magnitude & ((1 << fraction) - 1);
  const double sign = bits >> 7 != 0 ? -1 : 1;
  if (!format.has_negative_zero && bits == format.nan) return std::nan("");
  if (magnitude > format.largest) return rest == 0 ? sign * HUGE_VAL : std::nan("");
  return sign * (stored == 0 ? rest : rest | 1 << fraction) *
         power_of_two((stored == 0 ? 1 : stored) - bias - fraction);
}

/// a · b + c, rounded to odd: rounding it again to 16 bits is rounding the exact value once (Boldo and Melquiond,
/// 2005). a · b is exact in a double.
inline double to_odd(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  const double from_product = sum - c, from_c = sum - from_product;
  const double error = (product - from_product) + (c - from_c);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if (!std::isfinite(sum) || error == 0 || (bits & 1) != 0) return sum;
  return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

/// Hides a value from the compiler, which could otherwise compute before the mode is set or after it is restored.
template <class T>
T opaque(T value) {
  volatile T hidden = value;
  return hidden;
}

/// The result of an operation on opaque() operands while the host rounds in this mode.
template <class Operation>
auto in_mode(RoundingMode mode, Operation operation) {
  constexpr int modes[]{FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
  const int before = std::fegetround();
  std::fesetround(modes[int(mode)]);
  const auto result = opaque(operation());
  std::fesetround(before);
  return result;
}

inline double to_whole(double value, RoundingMode mode) {
  return in_mode(mode, [&] { return std::nearbyint(opaque(value)); });
}

/// To an integer of so many bits, as a GPU converts: values that are too large become the largest, and NaN 0, or the
/// highest bit if 64 bits are involved (`wide`: in the number).
inline std::uint64_t to_integer(double value, RoundingMode mode, unsigned bits, bool is_signed, bool wide) {
  if (std::isnan(value)) return wide || bits == 64 ? std::uint64_t{1} << (bits - 1) : 0;
  const double whole = to_whole(value, mode);
  const double beyond = std::ldexp(1.0, int(bits) - (is_signed ? 1 : 0)), lowest = is_signed ? -beyond : 0;
  if (whole >= beyond) return is_signed ? ~(~std::uint64_t{0} << (bits - 1)) : ~std::uint64_t{0} >> (64 - bits);
  if (whole < lowest) return is_signed ? ~std::uint64_t{0} << (bits - 1) : 0;
  return is_signed ? std::uint64_t(std::int64_t(whole)) : std::uint64_t(whole);
}

}  // namespace bankwise::emulator::small_floats
