// Numbers read from texts and written into them, and statistics of measurements.
#pragma once

#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace bankwise::support {

/// Parses text that is one number and nothing else. False if it is not, or too large. `base`: of whole numbers.
template <class Number>
bool parse_number(std::string_view text, Number& number, int base = 10) {
  const char* const last = text.data() + text.size();
  std::from_chars_result parsed{};
  if constexpr (std::is_floating_point_v<Number>) {
    parsed = std::from_chars(text.data(), last, number);
  } else {
    parsed = std::from_chars(text.data(), last, number, base);
  }
  return parsed.ec == std::errc() && parsed.ptr == last;
}

/// The largest number, for what is larger.
inline constexpr std::uint64_t saturated = ~std::uint64_t{0};
inline std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? saturated : product;
}

/// A count as people type it: "1000", "16Mi" (16 * 2^20), "2G" (2 * 10^9), "2^20". Suffixes K M G T, Ki Mi Gi Ti.
/// `name` is the name in the error message: "--n". Error: UsageError if the text is not a count, or above `largest`.
std::uint64_t parse_count(std::string_view name, std::string_view text, std::uint64_t largest);

/// "67.1 MB"; decimal units, as for bandwidths.
std::string format_bytes(double bytes);
/// "98.7 us", three digits.
std::string format_time(double seconds);
/// "16,777,216".
std::string grouped(std::uint64_t count);

/// 0 for no samples.
double median(std::span<const double> samples);

/// 1.4826 * median absolute deviation / median. For normal noise this is the standard deviation over the mean, but it
/// is robust against outliers. 0 for no samples.
double noise(std::span<const double> samples);

/// Reports show no noise of fewer samples.
inline constexpr std::size_t fewest_for_noise = 5;

}  // namespace bankwise::support
