// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bankwise {

/// A count as people type it: "1000", "16Mi" (16 * 2^20), "2G" (2 * 10^9), "2^20". Suffixes K M G T, Ki Mi Gi Ti.
/// `name` is the name in the error message: "--n". Error: UsageError if the text is not a count, or above `largest`.
std::uint64_t parse_count(std::string_view name, std::string_view text, std::uint64_t largest);

/// "67.1 MB"; decimal units, as for bandwidths.
std::string format_bytes(double bytes);
/// "98.7 us", three digits.
std::string format_time(double seconds);
/// "16 777 216".
std::string format_count(std::uint64_t count);

}  // namespace bankwise
