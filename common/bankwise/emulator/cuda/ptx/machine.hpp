// SPDX-License-Identifier: MIT
//
// Internal to common/bankwise/emulator: a lane that executes inline PTX.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <bankwise/emulator/core/lane_memory.hpp>
#include <bankwise/emulator/cuda/ptx/program.hpp>
#include <bankwise/emulator/cuda/small_float_words.hpp>

namespace bankwise::emulator::ptx {

struct Machine {
  std::span<std::uint64_t> given;   ///< operands of the asm statement
  std::span<std::uint64_t> locals;  ///< registers that the text declares
  const void* caller;
  Parts& parts;
  int jump = -1;  ///< the next instruction, if it is not the following one

  std::uint64_t read(const Operand& operand) const;
  void write(const Operand& operand, std::uint64_t bits);
  /// Zero-extended bits of a type; a real number is converted to it.
  std::uint64_t read(const Operand& operand, Type type) const;
  template <class T>
  T read_as(const Operand& operand) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::bit_cast<T>(static_cast<Bits<T>>(read(operand, {'f', 8 * sizeof(T)})));
    } else {
      return static_cast<T>(read(operand));
    }
  }
  template <class T>
  void write_as(const Operand& operand, T value) {
    write(operand, std::bit_cast<Bits<T>>(value));
  }
  bool predicate(const Operand& operand) const { return (read(operand) != 0) != operand.negated; }
  /// Where an address operand points; `space` of the instruction.
  std::byte* address(const Operand& operand, const Instruction& one) const;

 private:
  template <class T>
  using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                     std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
};

/// Stops the lane: the instruction is not emulated.
[[noreturn]] void refuse(const Machine& machine, const Instruction& one);

/// Calls `work` with a number of the C++ type.
template <class Work>
bool with_integer(Type type, Work work) {
  const bool is_signed = type.kind == 's';
  switch (type.bits) {
    case 8:
      is_signed ? work(std::int8_t{}) : work(std::uint8_t{});
      return true;
    case 16:
      is_signed ? work(std::int16_t{}) : work(std::uint16_t{});
      return true;
    case 32:
      is_signed ? work(std::int32_t{}) : work(std::uint32_t{});
      return true;
    case 64:
      is_signed ? work(std::int64_t{}) : work(std::uint64_t{});
      return true;
    default:
      return false;
  }
}
/// Also with float and double.
template <class Work>
bool with_number(Type type, Work work) {
  if (type.kind != 'f') return type.kind != 'h' && type.kind != 't' && with_integer(type, work);
  if (type.bits == 32 && !type.pair) return work(float{}), true;
  if (type.bits == 64) return work(double{}), true;
  return false;
}

/// Half precision and bfloat16, one number or two.
inline bool is_small(Type type) {
  return type.kind == 'h' || (type.kind == 'f' && (type.bits == 16 || type.pair));
}
inline device::Format format_of(Type type) {
  return type.kind == 'h' ? device::Format::bfloat16 : device::Format::half;
}

// Tables of instructions.
using Entry = std::pair<std::string_view, Handler>;
std::span<const Entry> arithmetic_instructions();
std::span<const Entry> bit_instructions();
std::span<const Entry> memory_instructions();
std::span<const Entry> warp_instructions();

}  // namespace bankwise::emulator::ptx
