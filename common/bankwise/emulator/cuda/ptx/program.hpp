// SPDX-License-Identifier: MIT
//
// Internal to common/bankwise/emulator: the text of an asm statement as instructions.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bankwise::emulator::ptx {

/// The text is not PTX, or not emulated; what() names the instruction.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// .u32 is {'u', 32}; .f16x2 and .bf16x2 are pairs.
struct Type {
  char kind = 'b';  ///< b: bits, u: unsigned, s: signed, f: floating point, h: bfloat16, t: tf32, p: predicate
  unsigned bits = 32;
  bool pair = false;
};

struct Operand {
  enum class Kind { given, local, number, real, special, address, list, sink };
  Kind kind = Kind::sink;
  unsigned index = 0;            ///< of the asm statement's operand, of a local register, of a special register
  std::uint64_t bits = 0;        ///< a number; a real number as double; the offset of an address
  bool negated = false;          ///< a predicate
  std::vector<Operand> parts{};  ///< of a list; the base of an address; the second half of "p|q"
};

struct Machine;
struct Instruction;
using Handler = void (*)(Machine& machine, const Instruction& instruction);

struct Instruction {
  std::string name;                    ///< "ld"
  std::vector<std::string> modifiers;  ///< "shared", "v4"
  std::vector<Type> types;             ///< those among the modifiers
  std::vector<Operand> operands;
  Handler handler = nullptr;
  int guard = -1;  ///< a local predicate
  bool guard_negated = false;
  int target = -1;  ///< of a branch
  bool has(std::string_view modifier) const;
  Type type() const { return types.empty() ? Type() : types.back(); }
  std::string text() const;
};

struct Program {
  std::vector<Instruction> instructions;
  unsigned locals = 0;
};

/// Errors: Unsupported.
Program parse(std::string_view text);

/// Names of special registers, by index: "laneid".
extern const std::vector<std::string_view> special_registers;

/// The function for an instruction; null if there is none.
Handler handler_of(std::string_view name);

}  // namespace bankwise::emulator::ptx
