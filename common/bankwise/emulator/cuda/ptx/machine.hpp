// Internal to common/bankwise/emulator: a lane that executes inline PTX.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
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
  /// Half precision and bfloat16, one number or two.
  bool is_small() const { return kind == 'h' || (kind == 'f' && (bits == 16 || pair)); }
  bool is_real() const { return kind == 'f' || kind == 'h' || kind == 't'; }
  std::uint64_t mask() const { return ~std::uint64_t{0} >> (bits < 64 ? 64 - bits : 0); }
  device::FloatFormat format() const { return kind == 'h' ? device::FloatFormat::bfloat16 : device::FloatFormat::half; }
  friend bool operator==(const PtxType&, const PtxType&) = default;
};

struct PtxOperand {
  enum class Kind { given, local, number, real, special, address, list, sink };
  Kind kind = Kind::sink;
  unsigned index = 0;               ///< an asm statement's operand, a local register or a special register
  std::uint64_t bits = 0;           ///< a number; a real number as double; the offset of an address
  bool negated = false;             ///< a predicate
  std::vector<PtxOperand> parts{};  ///< a list's elements; the base of an address; the second half of "p|q"
  /// The elements of a list, or the operand itself.
  std::span<const PtxOperand> elements() const { return kind == Kind::list ? parts : std::span(this, 1); }
};

struct Machine;
using Handler = void (*)(Machine& machine);

struct PtxInstruction {
  std::string name;                    ///< "ld"
  std::vector<std::string> modifiers;  ///< "shared", "v4"
  std::vector<PtxType> types;          ///< those among the modifiers
  std::vector<PtxOperand> operands;
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

/// The index of a special register, "laneid"; -1 if there is none of that name.
int special_register(std::string_view name);

/// The function for an instruction; null if there is none.
Handler handler_of(std::string_view name);

// --- Their execution ---

/// Calls `work` with a number of the C++ type.
template <class Work>
bool with_integer(PtxType type, Work work) {
  const auto of_width = [&](auto a_signed, auto an_unsigned) {
    return type.kind == 's' ? work(a_signed) : work(an_unsigned), true;
  };
  if (type.pair || type.is_real()) return false;
  if (type.bits == 8) return of_width(std::int8_t{}, std::uint8_t{});
  if (type.bits == 16) return of_width(std::int16_t{}, std::uint16_t{});
  if (type.bits == 32) return of_width(std::int32_t{}, std::uint32_t{});
  return type.bits == 64 && of_width(std::int64_t{}, std::uint64_t{});
}
/// Also with float and double.
template <class Work>
bool with_number(PtxType type, Work work) {
  if (type.kind != 'f') return with_integer(type, work);
  if (type.bits == 32 && !type.pair) return work(float{}), true;
  return type.bits == 64 && (work(double{}), true);
}

/// A lane and the instruction that it executes.
struct Machine {
  std::span<std::uint64_t> given;   ///< operands of the asm statement
  std::span<std::uint64_t> locals;  ///< registers that the text declares
  const void* caller;
  Parts& parts;
  bool is_volatile;  ///< the asm statement
  const PtxInstruction* instruction = nullptr;
  int jump = -1;  ///< the next instruction, if it is not the following one

  bool has(std::string_view modifier) const { return instruction->has(modifier); }
  PtxType type() const { return instruction->type(); }
  std::size_t count() const { return instruction->operands.size(); }
  const PtxOperand& operand(std::size_t i) const;
  /// Stops the lane: the instruction is not emulated.
  [[noreturn]] void refuse() const;

  std::uint64_t read(const PtxOperand& operand) const;
  void write(const PtxOperand& operand, std::uint64_t bits);
  /// Zero-extended bits of a type; a real number is converted to it.
  std::uint64_t read(const PtxOperand& operand, PtxType type) const;
  std::uint64_t bits(std::size_t i) const { return read(operand(i), type()); }
  std::uint32_t word(std::size_t i) const { return std::uint32_t(read(operand(i))); }
  bool predicate(std::size_t i) const { return (read(operand(i)) != 0) != operand(i).negated; }
  template <class T>
  T number(const PtxOperand& operand) const {
    const std::uint64_t bits = read(operand, {std::is_floating_point_v<T> ? 'f' : 'b', 8 * sizeof(T)});
    if constexpr (std::is_same_v<T, float>) {
      const auto value = std::bit_cast<float>(std::uint32_t(bits));
      return flushed(value);
    } else if constexpr (std::is_same_v<T, double>) {
      return std::bit_cast<double>(bits);
    } else {
      return T(bits);
    }
  }
  template <class T>
  T number(std::size_t i) const {
    return number<T>(operand(i));
  }
  /// With .ftz, subnormal numbers are zeros of their sign.
  float flushed(float value) const {
    const bool subnormal = value < std::numeric_limits<float>::min() && value > -std::numeric_limits<float>::min();
    return subnormal && has("ftz") ? value * 0 : value;
  }

  void result(std::uint64_t bits) { write(operand(0), bits); }
  /// Registers are at least 32 bits wide.
  template <class T>
  void result_of(T value) {
    if constexpr (std::is_same_v<T, float>) {
      result(std::bit_cast<std::uint32_t>(flushed(value)));
    } else if constexpr (std::is_same_v<T, double>) {
      result(std::bit_cast<std::uint64_t>(value));
    } else {
      result(sizeof(T) == 8 ? std::uint64_t(value) : std::uint32_t(std::int32_t(value)));
    }
  }
  /// The second half of the result "p|q", if there is one.
  void second_result(std::uint64_t bits) {
    if (operand(0).kind != PtxOperand::Kind::list && !operand(0).parts.empty()) write(operand(0).parts[0], bits);
  }
  bool in_shared() const { return has("shared") || has("shared::cta") || has("shared::cluster"); }
  /// Where an address operand points.
  std::byte* address(std::size_t i) const;
};

// Tables of instructions.
using Entry = std::pair<std::string_view, Handler>;
std::span<const Entry> arithmetic_instructions();
std::span<const Entry> bit_instructions();
std::span<const Entry> memory_instructions();
std::span<const Entry> warp_instructions();

}  // namespace bankwise::emulator::ptx
