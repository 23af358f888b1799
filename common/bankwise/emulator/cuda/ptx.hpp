// SPDX-License-Identifier: MIT
//
// Inline PTX. bankcheck rewrites
//
//   asm volatile("bfe.u32 %0, %1, 4, 8;" : "=r"(x) : "r"(y) : "memory");
//
// to a call of ptx<true>() (`true`: volatile) with a function that returns the text, ptx_out(x) and ptx_in(y). The
// emulator interprets the text when a lane comes to it; the compiler only looks at the names of the instructions.
#pragma once

#include <cstddef>
#include <cstdint>

#include <bankwise/emulator/cuda/ptx_names.hpp>
#include <bankwise/emulator/cuda/warp.hpp>

namespace bankwise::emulator::device {

/// Executes PTX on operands, whose values it changes. Not inlined, because the emulator reads the return address.
void interpret_ptx(const char* text, std::uint64_t* operands, std::size_t count, bool is_volatile) noexcept;

__attribute__((error("this inline PTX has an instruction that is not emulated"))) void instruction_not_emulated();

/// Operands: constraints "=r", "+r", "r".
template <class T>
struct PtxOut {
  BANKWISE_DEVICE std::uint64_t before() const { return 0; }
  BANKWISE_DEVICE void after(std::uint64_t bits) const { target = from_bits<T>(bits); }
  T& target;
};
template <class T>
struct PtxInOut : PtxOut<T> {
  BANKWISE_DEVICE std::uint64_t before() const { return to_bits(this->target); }
};
struct PtxIn {
  BANKWISE_DEVICE std::uint64_t before() const { return bits; }
  BANKWISE_DEVICE void after(std::uint64_t) const {}
  std::uint64_t bits;
};
template <class T>
BANKWISE_DEVICE PtxOut<T> ptx_out(T& target) {
  return {target};
}
template <class T>
BANKWISE_DEVICE PtxInOut<T> ptx_in_out(T& target) {
  return {{target}};
}
/// By value: g++ binds no reference to the address of a __restrict__ pointer's element, and an array becomes a pointer.
template <class T>
BANKWISE_DEVICE PtxIn ptx_in(T value) {
  return {to_bits(value)};
}

template <bool is_volatile = false, class Text, class... Operands>
BANKWISE_DEVICE void ptx(Text text, const Operands&... operands) {
  if constexpr (ptx_is_known(text())) {
    std::uint64_t values[] = {operands.before()..., 0};
    interpret_ptx(text(), values, sizeof...(operands), is_volatile);
    std::size_t i = 0;
    (operands.after(values[i++]), ...);
  } else {
    instruction_not_emulated();
  }
}

}  // namespace bankwise::emulator::device
