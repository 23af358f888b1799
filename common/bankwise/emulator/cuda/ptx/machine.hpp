// SPDX-License-Identifier: MIT
//
// Internal to common/bankwise/emulator: a lane that executes inline PTX.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <bankwise/emulator/core/lane.hpp>
#include <bankwise/emulator/cuda/small_float_words.hpp>

namespace bankwise::emulator::ptx {

// --- The text of an asm statement as instructions ---

/// The text is not PTX, or not emulated; what() names the instruction.
struct UnsupportedPtx : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// .u32 is {'u', 32}; .f16x2 and .bf16x2 are pairs.
struct PtxType {
  char kind = 'b';  ///< b: bits, u: unsigned, s: signed, f: floating point, h: bfloat16, t: tf32, p: predicate
  unsigned bits = 32;
  bool pair = false;
};

struct Operand {
  enum class Kind { given, local, number, real, special, address, list, sink };
  Kind kind = Kind::sink;
  unsigned index = 0;            ///< an asm statement's operand, a local register or a special register
  std::uint64_t bits = 0;        ///< a number; a real number as double; the offset of an address
  bool negated = false;          ///< a predicate
  std::vector<Operand> parts{};  ///< a list's elements; the base of an address; the second half of "p|q"
};

struct Machine;
struct PtxInstruction;
using Handler = void (*)(Machine& machine, const PtxInstruction& instruction);

struct PtxInstruction {
  std::string name;                    ///< "ld"
  std::vector<std::string> modifiers;  ///< "shared", "v4"
  std::vector<PtxType> types;          ///< those among the modifiers
  std::vector<Operand> operands;
  Handler handler = nullptr;
  int guard = -1;  ///< a local predicate
  bool guard_negated = false;
  int target = -1;  ///< where a branch leads
  bool has(std::string_view modifier) const;
  PtxType type() const { return types.empty() ? PtxType() : types.back(); }
  std::string text() const;
};

struct PtxProgram {
  std::vector<PtxInstruction> instructions;
  unsigned locals = 0;
};

/// Errors: UnsupportedPtx.
PtxProgram parse(std::string_view text);

/// Names of special registers, by index: "laneid".
extern const std::vector<std::string_view> special_registers;

/// The function for an instruction; null if there is none.
Handler handler_of(std::string_view name);

// --- Their execution ---

struct Machine {
  std::span<std::uint64_t> given;   ///< operands of the asm statement
  std::span<std::uint64_t> locals;  ///< registers that the text declares
  const void* caller;
  Parts& parts;
  int jump = -1;  ///< the next instruction, if it is not the following one

  std::uint64_t read(const Operand& operand) const;
  void write(const Operand& operand, std::uint64_t bits);
  /// Zero-extended bits of a type; a real number is converted to it.
  std::uint64_t read(const Operand& operand, PtxType type) const;
  template <class T>
  T read_as(const Operand& operand) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::bit_cast<T>(static_cast<UnsignedOf<T>>(read(operand, {'f', 8 * sizeof(T)})));
    } else {
      return static_cast<T>(read(operand));
    }
  }
  template <class T>
  void write_as(const Operand& operand, T value) {
    write(operand, std::bit_cast<UnsignedOf<T>>(value));
  }
  bool predicate(const Operand& operand) const { return (read(operand) != 0) != operand.negated; }
  /// Where an address operand points; `space` of the instruction.
  std::byte* address(const Operand& operand, const PtxInstruction& op) const;

 private:
  template <class T>
  using UnsignedOf =
      std::conditional_t<sizeof(T) == 1, std::uint8_t,
                         std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                            std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
};

/// Stops the lane: the instruction is not emulated.
[[noreturn]] void refuse(const Machine& machine, const PtxInstruction& op);

/// Calls `work` with a number of the C++ type.
template <class Work>
bool with_integer(PtxType type, Work work) {
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
bool with_number(PtxType type, Work work) {
  if (type.kind != 'f') return type.kind != 'h' && type.kind != 't' && with_integer(type, work);
  if (type.bits == 32 && !type.pair) return work(float{}), true;
  if (type.bits == 64) return work(double{}), true;
  return false;
}

/// Half precision and bfloat16, one number or two.
inline bool is_small(PtxType type) { return type.kind == 'h' || (type.kind == 'f' && (type.bits == 16 || type.pair)); }
inline device::FloatFormat format_of(PtxType type) {
  return type.kind == 'h' ? device::FloatFormat::bfloat16 : device::FloatFormat::half;
}

// Tables of instructions.
using Entry = std::pair<std::string_view, Handler>;
std::span<const Entry> arithmetic_instructions();
std::span<const Entry> bit_instructions();
std::span<const Entry> memory_instructions();
std::span<const Entry> warp_instructions();

}  // namespace bankwise::emulator::ptx
