// Arithmetic on half precision and bfloat16, and conversions of numbers of 8 bits, as bits. Each operation rounds once,
// as a GPU does.
#pragma once

#include <cstdint>

namespace bankwise::emulator::device {

enum class FloatFormat { half, bfloat16 };
/// To nearest (even), towards zero, up, down.
enum class RoundingMode { rn, rz, ru, rd };

// X(name): functions of one number, in the order of CUDA's manual.
// clang-format off
#define BANKWISE_UNARY_NAMES(X) \
  X(sqrt) X(rsqrt) X(rcp) X(log) X(log2) X(log10) X(exp) X(exp2) X(exp10) X(cos) X(sin) X(tanh) X(trunc) X(ceil) \
  X(floor) X(rint)
// clang-format on
#define BANKWISE_NAME(name) name,
enum class Unary { BANKWISE_UNARY_NAMES(BANKWISE_NAME) };
#undef BANKWISE_NAME
enum class Binary { add, sub, mul, div, maximum, minimum, maximum_nan, minimum_nan };
enum class Limit { to_unit_interval, to_positive };

[[gnu::const]] std::uint16_t small_unary(FloatFormat format, Unary function, std::uint16_t a) noexcept;
[[gnu::const]] std::uint16_t small_binary(FloatFormat format, Binary operation, std::uint16_t a,
                                          std::uint16_t b) noexcept;
[[gnu::const]] std::uint16_t small_fma(FloatFormat format, std::uint16_t a, std::uint16_t b, std::uint16_t c) noexcept;
/// The suffixes _sat and _relu.
[[gnu::const]] std::uint16_t small_limit(FloatFormat format, Limit limit, std::uint16_t a) noexcept;

[[gnu::const]] float small_to_float(FloatFormat format, std::uint16_t a) noexcept;
[[gnu::const]] std::uint16_t small_from(FloatFormat format, RoundingMode mode, double value) noexcept;
[[gnu::const]] std::uint16_t small_from_integer(FloatFormat format, RoundingMode mode, long long value) noexcept;
[[gnu::const]] std::uint16_t small_from_integer(FloatFormat format, RoundingMode mode,
                                                unsigned long long value) noexcept;
/// To an integer of so many bits; values that are too large become the largest.
[[gnu::const]] std::uint64_t small_to_integer(FloatFormat format, RoundingMode mode, std::uint16_t a, unsigned bits,
                                              bool is_signed) noexcept;

/// Numbers of 8 bits; fnuz: of AMD, without infinities and -0.
enum class ByteFormat { e4m3, e5m2, e4m3_fnuz, e5m2_fnuz };
[[gnu::const]] float byte_to_float(ByteFormat format, std::uint8_t a) noexcept;
/// To nearest. `saturates`: values that are too large, also infinity, become the largest.
[[gnu::const]] std::uint8_t byte_from(ByteFormat format, double value, bool saturates) noexcept;

template <class T>
inline constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(1);

/// Adds one or two numbers (`bytes` are 2 or 4) atomically, returns the old ones.
std::uint32_t small_atomic_add(FloatFormat format, void* address, std::uint32_t value, unsigned bytes) noexcept;
/// The same, for a caller with another return address.
std::uint32_t small_atomic_add_from(FloatFormat format, void* address, std::uint32_t value, unsigned bytes,
                                    const void* caller) noexcept;

}  // namespace bankwise::emulator::device
