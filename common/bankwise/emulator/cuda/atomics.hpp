// SPDX-License-Identifier: MIT
//
// Atomic operations. They really are: blocks may run on several threads of the host.
#pragma once

#include <cstdint>

#include <bankwise/emulator/cuda/qualifiers.hpp>
#include <bankwise/emulator/lane.hpp>

// X(name, type): type atomic<name>(type* address, type value), but for Add of int and unsigned
// clang-format off
#define BANKWISE_ATOMICS(X)                                                                                       \
  X(Add, unsigned long long) X(Add, float) X(Add, double) X(Sub, int) X(Sub, unsigned) X(Exch, int)               \
  X(Exch, unsigned) X(Exch, unsigned long long) X(Exch, float) X(Min, int) X(Min, unsigned) X(Min, long long)     \
  X(Min, unsigned long long) X(Max, int) X(Max, unsigned) X(Max, long long) X(Max, unsigned long long)            \
  X(Inc, unsigned) X(Dec, unsigned) X(And, int) X(And, unsigned) X(And, unsigned long long) X(Or, int)            \
  X(Or, unsigned) X(Or, unsigned long long) X(Xor, int) X(Xor, unsigned) X(Xor, unsigned long long)
// clang-format on
// The types of compare-and-swap.
#define BANKWISE_COMPARE_AND_SWAP(X) X(unsigned short) X(int) X(unsigned) X(unsigned long long)

namespace bankwise::emulator::words {

#define BANKWISE_DECLARE(name, type) type atomic##name(type* address, type value) noexcept;
BANKWISE_ATOMICS(BANKWISE_DECLARE)
#undef BANKWISE_DECLARE
#define BANKWISE_DECLARE(type) type atomicCAS(type* address, type expected, type value) noexcept;
BANKWISE_COMPARE_AND_SWAP(BANKWISE_DECLARE)
#undef BANKWISE_DECLARE

/// An addition: `before` is before_atomic()'s.
struct Added {
  std::uint64_t old, before;
};
/// `one`: the value is known to be 1 at compile time.
Added add(unsigned* address, unsigned value, bool one) noexcept;

/// The old value, for somebody who uses it. "Const" is a lie with a purpose: where nobody does, the compiler drops the
/// call, and that is how the emulator learns what nvcc would have seen, an addition of 1 that is an instruction of its
/// own. So the result of atomicAdd() keeps its plain type.
[[gnu::const]] std::uint64_t used(std::uint64_t old, std::uint64_t before) noexcept;

}  // namespace bankwise::emulator::words

namespace bankwise::cuda {

// A device, a block and the host see the same memory here.
#define BANKWISE_SCOPES(X) X() X(_block) X(_system)

#define BANKWISE_ATOMIC(name, type, suffix)                            \
  BANKWISE_WORD type atomic##name##suffix(type* address, type value) { \
    return emulator::words::atomic##name(address, value);              \
  }
#define BANKWISE_IN_EACH_SCOPE(name, type) \
  BANKWISE_ATOMIC(name, type, )            \
  BANKWISE_ATOMIC(name, type, _block)      \
  BANKWISE_ATOMIC(name, type, _system)
BANKWISE_ATOMICS(BANKWISE_IN_EACH_SCOPE)
#undef BANKWISE_IN_EACH_SCOPE
#undef BANKWISE_ATOMIC

#define BANKWISE_SWAP(type, suffix)                                                \
  BANKWISE_WORD type atomicCAS##suffix(type* address, type expected, type value) { \
    return emulator::words::atomicCAS(address, expected, value);                   \
  }
#define BANKWISE_IN_EACH_SCOPE(type) BANKWISE_SWAP(type, ) BANKWISE_SWAP(type, _block) BANKWISE_SWAP(type, _system)
BANKWISE_COMPARE_AND_SWAP(BANKWISE_IN_EACH_SCOPE)
#undef BANKWISE_IN_EACH_SCOPE
#undef BANKWISE_SWAP

#define BANKWISE_ADD(suffix)                                                                            \
  BANKWISE_WORD unsigned atomicAdd##suffix(unsigned* address, unsigned value) {                         \
    const auto added = emulator::words::add(address, value, __builtin_constant_p(value) && value == 1); \
    return unsigned(emulator::words::used(added.old, added.before));                                    \
  }                                                                                                     \
  BANKWISE_WORD int atomicAdd##suffix(int* address, int value) {                                        \
    const auto added = emulator::words::add(reinterpret_cast<unsigned*>(address), unsigned(value),      \
                                            __builtin_constant_p(value) && value == 1);                 \
    return int(emulator::words::used(added.old, added.before));                                         \
  }
BANKWISE_SCOPES(BANKWISE_ADD)
#undef BANKWISE_ADD
#undef BANKWISE_SCOPES

}  // namespace bankwise::cuda

using namespace bankwise::cuda;
