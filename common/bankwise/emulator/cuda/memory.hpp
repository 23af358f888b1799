// Accesses to memory: loads and stores with cache hints, and atomic operations, which are atomic on the host, too,
// because several host threads may run blocks. And promises to the compiler.
#pragma once

#include <string.h>

#include <cstddef>
#include <cstdint>

#include <bankwise/emulator/cuda/qualifiers.hpp>

// X(name, type): type atomic<name>(type* address, type value), except Add of int and unsigned
// clang-format off
#define BANKWISE_ATOMICS(X)                                                                                       \
  X(Add, unsigned long long) X(Add, float) X(Add, double) X(Sub, int) X(Sub, unsigned) X(Exch, int)               \
  X(Exch, unsigned) X(Exch, unsigned long long) X(Exch, float) X(Min, int) X(Min, unsigned) X(Min, long long)     \
  X(Min, unsigned long long) X(Max, int) X(Max, unsigned) X(Max, long long) X(Max, unsigned long long)            \
  X(Inc, unsigned) X(Dec, unsigned) X(And, int) X(And, unsigned) X(And, unsigned long long) X(Or, int)            \
  X(Or, unsigned) X(Or, unsigned long long) X(Xor, int) X(Xor, unsigned) X(Xor, unsigned long long)
// clang-format on
#define BANKWISE_ATOMICS_OF_HIP(X) X(Min, float) X(Min, double) X(Max, float) X(Max, double)  // CUDA has none of them
// The types of compare-and-swap.
#define BANKWISE_COMPARE_AND_SWAP(X) X(unsigned short) X(int) X(unsigned) X(unsigned long long)

namespace bankwise::emulator::device {

/// A type from which no template argument is deduced.
template <class T>
struct SameType {
  using Type = T;
};
template <class T>
using Same = typename SameType<T>::Type;

/// An address in PTX's state space .shared has 32 bits.
[[gnu::const]] unsigned shared_address(const void* address) noexcept;
[[gnu::const]] void* generic_address(unsigned address) noexcept;
[[gnu::const]] bool is_in_shared(const void* address) noexcept;
void fence() noexcept;

#define BANKWISE_DECLARE(name, type) type atomic##name(type* address, type value) noexcept;
BANKWISE_ATOMICS(BANKWISE_DECLARE)
BANKWISE_ATOMICS_OF_HIP(BANKWISE_DECLARE)
#undef BANKWISE_DECLARE
#define BANKWISE_DECLARE(type) type atomicCAS(type* address, type expected, type value) noexcept;
BANKWISE_COMPARE_AND_SWAP(BANKWISE_DECLARE)
#undef BANKWISE_DECLARE

/// The result of an addition: `before` is the number from before_atomic().
struct Added {
  std::uint64_t old, before;
};
/// `is_one`: the value is known to be 1 at compile time.
Added add(unsigned* address, unsigned value, bool is_one) noexcept;

/// The old value, if the kernel uses it. The attribute `const` is wrong on purpose: if the result is unused, the
/// compiler drops the call. So the emulator learns what nvcc would see: an addition of 1 without a result, which is a
/// separate instruction. The result of atomicAdd() therefore keeps its plain type.
[[gnu::const]] std::uint64_t used(std::uint64_t old, std::uint64_t before) noexcept;

}  // namespace bankwise::emulator::device

namespace bankwise::emulator::cuda {

// Programs exchange data between blocks with those that bypass the L1 cache: they count as fences.
#define BANKWISE_LOAD(name, ...)             \
  template <class T>                         \
  BANKWISE_DEVICE T name(const T* address) { \
    __VA_ARGS__;                             \
    return *address;                         \
  }
BANKWISE_LOAD(__ldg, )
BANKWISE_LOAD(__ldca, )
BANKWISE_LOAD(__ldcg, device::fence())
BANKWISE_LOAD(__ldcs, )
BANKWISE_LOAD(__ldlu, )
BANKWISE_LOAD(__ldcv, device::fence())
#undef BANKWISE_LOAD

#define BANKWISE_STORE(name, ...)                                \
  template <class T>                                             \
  BANKWISE_DEVICE void name(T* address, device::Same<T> value) { \
    __VA_ARGS__;                                                 \
    *address = value;                                            \
  }
BANKWISE_STORE(__stwb, )
BANKWISE_STORE(__stcg, device::fence())
BANKWISE_STORE(__stcs, )
BANKWISE_STORE(__stwt, device::fence())
#undef BANKWISE_STORE

BANKWISE_FUNCTION(std::size_t, __cvta_generic_to_shared, (const void* address), device::shared_address(address))
BANKWISE_FUNCTION(void*, __cvta_shared_to_generic, (std::size_t address), device::generic_address(unsigned(address)))
BANKWISE_FUNCTION(std::size_t, __cvta_generic_to_global, (const void* address), reinterpret_cast<std::size_t>(address))
BANKWISE_FUNCTION(void*, __cvta_global_to_generic, (std::size_t address), reinterpret_cast<void*>(address))
BANKWISE_FUNCTION(unsigned, __isShared, (const void* address), device::is_in_shared(address))
BANKWISE_FUNCTION(unsigned, __isGlobal, (const void* address), !device::is_in_shared(address))

// Device, block and host scope are the same here.
#define BANKWISE_SCOPES(X) X() X(_block) X(_system)

#define BANKWISE_ATOMIC(name, type, suffix) \
  BANKWISE_DEVICE type atomic##name##suffix(type* address, type value) { return device::atomic##name(address, value); }
#define BANKWISE_IN_EACH_SCOPE(name, type) \
  BANKWISE_ATOMIC(name, type, )            \
  BANKWISE_ATOMIC(name, type, _block)      \
  BANKWISE_ATOMIC(name, type, _system)
BANKWISE_ATOMICS(BANKWISE_IN_EACH_SCOPE)
#undef BANKWISE_IN_EACH_SCOPE
#undef BANKWISE_ATOMIC

#define BANKWISE_SWAP(type, suffix)                                                  \
  BANKWISE_DEVICE type atomicCAS##suffix(type* address, type expected, type value) { \
    return device::atomicCAS(address, expected, value);                              \
  }
#define BANKWISE_IN_EACH_SCOPE(type) BANKWISE_SWAP(type, ) BANKWISE_SWAP(type, _block) BANKWISE_SWAP(type, _system)
BANKWISE_COMPARE_AND_SWAP(BANKWISE_IN_EACH_SCOPE)
#undef BANKWISE_IN_EACH_SCOPE
#undef BANKWISE_SWAP

#define BANKWISE_ADD(suffix)                                                                                           \
  BANKWISE_DEVICE unsigned atomicAdd##suffix(unsigned* address, unsigned value) {                                      \
    const auto added = device::add(address, value, __builtin_constant_p(value) && value == 1);                         \
    return unsigned(device::used(added.old, added.before));                                                            \
  }                                                                                                                    \
  BANKWISE_DEVICE int atomicAdd##suffix(int* address, int value) {                                                     \
    const auto added =                                                                                                 \
        device::add(reinterpret_cast<unsigned*>(address), unsigned(value), __builtin_constant_p(value) && value == 1); \
    return int(device::used(added.old, added.before));                                                                 \
  }
BANKWISE_SCOPES(BANKWISE_ADD)
#undef BANKWISE_ADD
#undef BANKWISE_SCOPES

// The condition is not evaluated, as in nvcc.
#ifndef __clang__
#define __builtin_assume(condition) ((void)sizeof(!(condition)))
#endif
#define __assume(condition) __builtin_assume(condition)

}  // namespace bankwise::emulator::cuda

#ifdef __SANITIZE_THREAD__  // not in the emulator itself
// C has these functions, so calls from kernels get other symbols: g++ does not instrument those of variable length.
extern "C" void* memcpy(void* to, const void* from, std::size_t bytes) noexcept __asm__("bankwise_emulator_memcpy");
extern "C" void* memmove(void* to, const void* from, std::size_t bytes) noexcept __asm__("bankwise_emulator_memmove");
extern "C" void* memset(void* to, int value, std::size_t bytes) noexcept __asm__("bankwise_emulator_memset");

#if !defined(__USE_FORTIFY_LEVEL) || __USE_FORTIFY_LEVEL == 0  // else the C library defines them like this
// Nor does g++ instrument those of constant length, except copies that are one load and one store. They are accesses to
// an object here.
extern "C" void __tsan_read_range(void* address, long bytes);
extern "C" void __tsan_write_range(void* address, long bytes);
extern "C" void* bankwise_emulator_variable_memcpy(void* to, const void* from, std::size_t bytes) noexcept
    __asm__("bankwise_emulator_memcpy");
extern "C" void* bankwise_emulator_variable_memset(void* to, int value, std::size_t bytes) noexcept
    __asm__("bankwise_emulator_memset");
extern "C" void* bankwise_emulator_plain_memcpy(void* to, const void* from, std::size_t bytes) noexcept
    __asm__("memmove");
extern "C" void* bankwise_emulator_plain_memset(void* to, int value, std::size_t bytes) noexcept __asm__("memset");

#define BANKWISE_IS_WORD(bytes) (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16)
#define BANKWISE_LIBRARY_FUNCTION extern "C" __attribute__((always_inline, gnu_inline, artificial)) inline
BANKWISE_LIBRARY_FUNCTION void* memcpy(void* to, const void* from, std::size_t bytes) noexcept {
  if (!__builtin_constant_p(bytes)) return bankwise_emulator_variable_memcpy(to, from, bytes);
  if (BANKWISE_IS_WORD(bytes)) return __builtin_memcpy(to, from, bytes);
  if (bytes == 0) return to;
  __tsan_read_range(const_cast<void*>(from), long(bytes));
  __tsan_write_range(to, long(bytes));
  return bankwise_emulator_plain_memcpy(to, from, bytes);
}
BANKWISE_LIBRARY_FUNCTION void* memset(void* to, int value, std::size_t bytes) noexcept {
  if (!__builtin_constant_p(bytes)) return bankwise_emulator_variable_memset(to, value, bytes);
  const unsigned long long word = 0x0101010101010101 * static_cast<unsigned char>(value), words[]{word, word};
  if (BANKWISE_IS_WORD(bytes)) return __builtin_memcpy(to, words, bytes);
  if (bytes == 0) return to;
  __tsan_write_range(to, long(bytes));
  return bankwise_emulator_plain_memset(to, value, bytes);
}
#undef BANKWISE_LIBRARY_FUNCTION
#undef BANKWISE_IS_WORD
#endif
#endif
