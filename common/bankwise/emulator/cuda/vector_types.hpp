// CUDA's vector types: plain structures whose alignment lets a GPU load and store them with one instruction.
#pragma once

#include <cstdint>
#include <type_traits>

#include <bankwise/emulator/core/kernel_code.hpp>
#include <bankwise/emulator/cuda/qualifiers.hpp>

namespace bankwise::emulator::device {

/// The unsigned integer of the same size: 1, 2, 4 or 8 bytes.
template <class T>
using BitsOf = std::conditional_t<sizeof(T) <= 2, std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

template <class T>
BANKWISE_DEVICE std::uint64_t to_bits(T value) {
  return __builtin_bit_cast(BitsOf<T>, value);
}
template <class T>
BANKWISE_DEVICE T from_bits(std::uint64_t word) {
  return __builtin_bit_cast(T, BitsOf<T>(word));
}

}  // namespace bankwise::emulator::device

namespace bankwise::emulator::cuda {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"           // for compilers that do not know the next one
#pragma GCC diagnostic ignored "-Wc++20-extensions"  // `asm` in a constexpr function
/// A value that the compiler cannot predict. It would compile four constants to four stores, where a GPU has one.
template <class T>
BANKWISE_DEVICE constexpr T unforeseen(T value) {
  if (!__builtin_is_constant_evaluated()) {
    if constexpr (__is_same(T, float) || __is_same(T, double)) {
      __asm__("" : "+x"(value));
    } else {
      __asm__("" : "+r"(value));
    }
  }
  return value;
}
#pragma GCC diagnostic pop

// X(component, prefix, alignment of ...1, ...2, ...3, ...4)
#define BANKWISE_VECTORS(X)                      \
  X(signed char, char, 1, 2, 1, 4)               \
  X(unsigned char, uchar, 1, 2, 1, 4)            \
  X(short, short, 2, 4, 2, 8)                    \
  X(unsigned short, ushort, 2, 4, 2, 8)          \
  X(int, int, 4, 8, 4, 16)                       \
  X(unsigned, uint, 4, 8, 4, 16)                 \
  X(long, long, 8, 16, 8, 16)                    \
  X(unsigned long, ulong, 8, 16, 8, 16)          \
  X(long long, longlong, 8, 16, 8, 16)           \
  X(unsigned long long, ulonglong, 8, 16, 8, 16) \
  X(float, float, 4, 8, 4, 16)                   \
  X(double, double, 8, 16, 8, 16)

// HIP's vectors have constructors on GPUs of AMD: from components, or from one number for all of them.
#ifdef BANKWISE_WAVE
#define BANKWISE_CONSTRUCTORS_1(name, type) \
  name() = default;                         \
  constexpr name(type x_) : x(x_) {}
#define BANKWISE_CONSTRUCTORS_2(name, type)       \
  name() = default;                               \
  explicit constexpr name(type v) : x(v), y(v) {} \
  template <class X, class Y>                     \
  constexpr name(X x_, Y y_) : x(static_cast<type>(x_)), y(static_cast<type>(y_)) {}
#define BANKWISE_CONSTRUCTORS_3(name, type)             \
  name() = default;                                     \
  explicit constexpr name(type v) : x(v), y(v), z(v) {} \
  template <class X, class Y, class Z>                  \
  constexpr name(X x_, Y y_, Z z_) : x(static_cast<type>(x_)), y(static_cast<type>(y_)), z(static_cast<type>(z_)) {}
#define BANKWISE_CONSTRUCTORS_4(name, type)                   \
  name() = default;                                           \
  explicit constexpr name(type v) : x(v), y(v), z(v), w(v) {} \
  template <class X, class Y, class Z, class W>               \
  constexpr name(X x_, Y y_, Z z_, W w_)                      \
      : x(static_cast<type>(x_)), y(static_cast<type>(y_)), z(static_cast<type>(z_)), w(static_cast<type>(w_)) {}
#else
#define BANKWISE_CONSTRUCTORS_1(name, type)
#define BANKWISE_CONSTRUCTORS_2(name, type)
#define BANKWISE_CONSTRUCTORS_3(name, type)
#define BANKWISE_CONSTRUCTORS_4(name, type)
#endif

#define BANKWISE_STRUCTURES(type, prefix, one, two, three, four)                                                 \
  struct __align__(one) prefix##1 {                                                                              \
    type x;                                                                                                      \
    BANKWISE_CONSTRUCTORS_1(prefix##1, type)                                                                     \
  };                                                                                                             \
  struct __align__(two) prefix##2 {                                                                              \
    type x, y;                                                                                                   \
    BANKWISE_CONSTRUCTORS_2(prefix##2, type)                                                                     \
  };                                                                                                             \
  struct __align__(three) prefix##3 {                                                                            \
    type x, y, z;                                                                                                \
    BANKWISE_CONSTRUCTORS_3(prefix##3, type)                                                                     \
  };                                                                                                             \
  struct __align__(four) prefix##4 {                                                                             \
    type x, y, z, w;                                                                                             \
    BANKWISE_CONSTRUCTORS_4(prefix##4, type)                                                                     \
  };                                                                                                             \
  BANKWISE_DEVICE constexpr prefix##1 make_##prefix##1(type x) { return {x}; }                                   \
  BANKWISE_DEVICE constexpr prefix##2 make_##prefix##2(type x, type y) { return {unforeseen(x), y}; }            \
  BANKWISE_DEVICE constexpr prefix##3 make_##prefix##3(type x, type y, type z) { return {unforeseen(x), y, z}; } \
  BANKWISE_DEVICE constexpr prefix##4 make_##prefix##4(type x, type y, type z, type w) {                         \
    return {unforeseen(x), y, z, w};                                                                             \
  }
BANKWISE_VECTORS(BANKWISE_STRUCTURES)
#undef BANKWISE_STRUCTURES
#ifndef BANKWISE_WAVE
#undef BANKWISE_VECTORS
#endif

// CUDA 13 names the alignment of four 8-byte components.
#define BANKWISE_ALIGNED(type, prefix, bytes)                                                                  \
  struct __align__(bytes) prefix##4_##bytes##a {                                                               \
    type x, y, z, w;                                                                                           \
  };                                                                                                           \
  BANKWISE_DEVICE constexpr prefix##4_##bytes##a make_##prefix##4_##bytes##a(type x, type y, type z, type w) { \
    return {unforeseen(x), y, z, w};                                                                           \
  }
#define BANKWISE_BOTH(type, prefix) BANKWISE_ALIGNED(type, prefix, 16) BANKWISE_ALIGNED(type, prefix, 32)
BANKWISE_BOTH(long, long)
BANKWISE_BOTH(unsigned long, ulong)
BANKWISE_BOTH(long long, longlong)
BANKWISE_BOTH(unsigned long long, ulonglong)
BANKWISE_BOTH(double, double)
#undef BANKWISE_BOTH
#undef BANKWISE_ALIGNED

/// A Dim3 that knows uint3.
struct dim3 : emulator::Dim3 {
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : Dim3(x_, y_, z_) {}
  constexpr dim3(const uint3& v) : Dim3(v.x, v.y, v.z) {}
  /// threadIdx and blockIdx, as a program sees them: also for a parameter `const dim3&`.
  template <class Index, class = decltype(&Index::operator uint3)>
  constexpr dim3(const Index& index) : dim3(index.operator uint3()) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

}  // namespace bankwise::emulator::cuda
