// What the sources of kernels need of the core, in C++17.
#pragma once

#include <cstdint>

/// Code between the emulator and the kernel, which does not count as the kernel's.
#ifdef __clang__
#define BANKWISE_NOT_THE_KERNEL
#else
#define BANKWISE_NOT_THE_KERNEL __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#endif

namespace bankwise::emulator {

/// Sizes and positions as CUDA counts them; x runs fastest.
struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr Dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend constexpr bool operator==(const Dim3& a, const Dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
  friend constexpr bool operator!=(const Dim3& a, const Dim3& b) { return !(a == b); }
};

}  // namespace bankwise::emulator
