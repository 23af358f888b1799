// Atomic operations. They are atomic on the host, too, because several host threads may run blocks.
#pragma once

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

}  // namespace bankwise::emulator::cuda
