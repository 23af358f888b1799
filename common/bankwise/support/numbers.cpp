#include <bankwise/support/numbers.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include <bankwise/support/exit_code.hpp>

namespace bankwise::support {
namespace {

/// The value of a suffix; the caller handles "^20", a power. Empty if there is no such suffix.
std::optional<std::uint64_t> factor(std::string_view suffix) {
  constexpr std::string_view prefixes = "KMGT";
  if (suffix.empty()) return 1;
  const auto power = prefixes.find(char(std::toupper(suffix[0])));
  if (power == std::string_view::npos || suffix.size() > 2 || (suffix.size() == 2 && suffix[1] != 'i')) return {};
  std::uint64_t value = 1;
  for (std::size_t i = 0; i <= power; ++i) value *= suffix.size() == 2 ? 1024 : 1000;
  return value;
}

/// Reads digits from the front of `text`; empty if it does not begin with a digit; `saturated` if they do not fit.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument) return {};
  text.remove_prefix(std::size_t(end - text.data()));
  return error == std::errc::result_out_of_range ? saturated : value;
}

struct Unit {
  double size;
  const char* name;
};

/// Three significant digits, in the largest unit that keeps the value at 1 or more.
std::string with_unit(double value, const auto& units) {
  const auto unit =
      std::find_if(std::begin(units), std::end(units) - 1, [&](const Unit& u) { return value >= u.size; });
  const double scaled = value / unit->size;
  const bool whole = scaled >= 99.95 || scaled == std::floor(scaled);
  const int digits = whole ? 0 : scaled >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", scaled, digits, unit->name);
}

}  // namespace

std::uint64_t parse_count(std::string_view name, std::string_view text, std::uint64_t largest) {
  const auto not_a_count = [&] {
    return UsageError(fmt::format("{} {} is not a count; write one like 1000, 16Mi, 2G or 2^20", name, text));
  };
  std::string_view rest = text;
  auto value = take_number(rest);
  if (!value) throw not_a_count();
  if (rest.starts_with('^')) {
    rest.remove_prefix(1);
    const auto exponent = take_number(rest);
    if (!exponent || !rest.empty()) throw not_a_count();
    const std::uint64_t base = *value;
    value = 1;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(*exponent, 64); ++i) value = saturating_product(*value, base);
    if (base == saturated) value = saturated;
  } else {
    const auto scale = factor(rest);
    if (!scale) throw not_a_count();
    value = saturating_product(*value, *scale);
  }
  if (*value > largest) {
    throw UsageError(fmt::format("{} {} is too large; at most {} is possible", name, text, grouped(largest)));
  }
  return *value;
}

std::string format_bytes(double bytes) {
  constexpr std::array units{Unit{1e12, "TB"}, Unit{1e9, "GB"}, Unit{1e6, "MB"}, Unit{1e3, "kB"}, Unit{1, "B"}};
  return with_unit(bytes, units);
}

std::string format_time(double seconds) {
  constexpr std::array units{Unit{1, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}, Unit{1e-9, "ns"}};
  return with_unit(seconds, units);
}

std::string grouped(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (auto at = std::ptrdiff_t(text.size()) - 3; at > 0; at -= 3) text.insert(std::size_t(at), 1, ',');
  return text;
}

double median(std::span<const double> samples) {
  if (samples.empty()) return 0;
  std::vector<double> sorted(samples.begin(), samples.end());
  const auto middle = sorted.begin() + std::ptrdiff_t(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  if (sorted.size() % 2 == 1) return *middle;
  return (*std::max_element(sorted.begin(), middle) + *middle) / 2;
}

double noise(std::span<const double> samples) {
  const double centre = median(samples);
  if (centre == 0) return 0;
  std::vector<double> deviations;
  deviations.reserve(samples.size());
  for (const double sample : samples) deviations.push_back(std::abs(sample - centre));
  return 1.4826 * median(deviations) / centre;
}

}  // namespace bankwise::support
