// SPDX-License-Identifier: MIT
//
// PTX instructions on bits.
#include <algorithm>
#include <bit>

#include <bankwise/emulator/cuda/math.hpp>
#include <bankwise/emulator/cuda/ptx/machine.hpp>

namespace bankwise::emulator::ptx {
namespace {

template <class Operation>
void logic(Machine& m, const PtxInstruction& op, Operation operation) {
  const auto negated = [&](const Operand& operand, std::uint64_t bits) { return operand.negated ? bits == 0 : bits; };
  const std::uint64_t a = negated(op.operands.at(1), m.read(op.operands[1], op.type()));
  const std::uint64_t b = negated(op.operands.at(2), m.read(op.operands[2], op.type()));
  m.write(op.operands[0], operation(a, b));
}
void bit_and(Machine& m, const PtxInstruction& op) {
  logic(m, op, [](auto a, auto b) { return a & b; });
}
void bit_or(Machine& m, const PtxInstruction& op) {
  logic(m, op, [](auto a, auto b) { return a | b; });
}
void bit_xor(Machine& m, const PtxInstruction& op) {
  logic(m, op, [](auto a, auto b) { return a ^ b; });
}
void bit_not(Machine& m, const PtxInstruction& op) {
  const PtxType type = op.type();
  if (type.kind == 'p') return m.write(op.operands[0], m.read(op.operands.at(1)) == 0);
  m.write(op.operands[0], ~m.read(op.operands.at(1)) & (~0ull >> (64 - type.bits)));
}

void shift_left(Machine& m, const PtxInstruction& op) {
  const unsigned bits = op.type().bits, by = unsigned(m.read(op.operands.at(2), {'u', 32}));
  m.write(op.operands[0], by >= bits ? 0 : m.read(op.operands.at(1), op.type()) << by & (~0ull >> (64 - bits)));
}
void shift_right(Machine& m, const PtxInstruction& op) {
  const auto by = std::uint32_t(m.read(op.operands.at(2), {'u', 32}));
  with_integer(op.type(), [&](auto zero) {
    using T = decltype(zero);
    const T value = m.read_as<T>(op.operands.at(1));
    const unsigned width = 8 * sizeof(T);
    m.write_as(op.operands[0], by >= width ? T(value < 0 ? -1 : 0) : T(value >> by));
  });
}
void funnel_shift(Machine& m, const PtxInstruction& op) {
  const std::uint64_t both = m.read(op.operands.at(2), {}) << 32 | m.read(op.operands.at(1), {});
  const auto given = std::uint32_t(m.read(op.operands.at(3)));
  const unsigned by = op.has("clamp") ? std::min(given, 32u) : given % 32;
  m.write(op.operands[0], std::uint32_t(op.has("l") ? both << by >> 32 : both >> by));
}

void extract(Machine& m, const PtxInstruction& op) {
  const PtxType type = op.type();
  const std::uint64_t value = m.read(op.operands.at(1), type);
  const unsigned from = m.read(op.operands.at(2)) & 0xFF, count = m.read(op.operands.at(3)) & 0xFF;
  const unsigned top = std::min(from + count - 1, type.bits - 1);  // its bit is the sign
  const bool negative = type.kind == 's' && count != 0 && (value >> top & 1) != 0;
  std::uint64_t result = 0;
  for (unsigned i = 0; i < type.bits; ++i) {
    const bool bit = i < count && from + i < type.bits ? (value >> (from + i) & 1) != 0 : negative;
    result |= std::uint64_t{bit} << i;
  }
  m.write(op.operands[0], result);
}
void insert(Machine& m, const PtxInstruction& op) {
  const unsigned bits = op.type().bits;
  const std::uint64_t field = m.read(op.operands.at(1), op.type()), base = m.read(op.operands.at(2), op.type());
  const unsigned at = m.read(op.operands.at(3)) & 0xFF, count = m.read(op.operands.at(4)) & 0xFF;
  const std::uint64_t ones = count >= 64 ? ~0ull : (1ull << count) - 1;
  const std::uint64_t mask = at >= bits ? 0 : ones << at & (~0ull >> (64 - bits));
  m.write(op.operands[0], (base & ~mask) | ((at >= 64 ? 0 : field << at) & mask));
}

void permute(Machine& m, const PtxInstruction& op) {
  const auto a = m.read_as<std::uint32_t>(op.operands.at(1)), b = m.read_as<std::uint32_t>(op.operands.at(2)),
             selector = m.read_as<std::uint32_t>(op.operands.at(3));
  if (op.modifiers.size() > 1) refuse(m, op);  // the special modes
  m.write(op.operands[0], device::permute_bytes(a, b, selector));
}

void lookup(Machine& m, const PtxInstruction& op) {
  const auto a = m.read_as<std::uint32_t>(op.operands.at(1)), b = m.read_as<std::uint32_t>(op.operands.at(2)),
             c = m.read_as<std::uint32_t>(op.operands.at(3));
  const auto table = m.read(op.operands.at(4));
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if ((table >> i & 1) == 0) continue;
    result |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  }
  m.write(op.operands[0], result);
}

void population(Machine& m, const PtxInstruction& op) {
  m.write(op.operands[0], unsigned(std::popcount(m.read(op.operands.at(1), op.type()))));
}
void leading_zeros(Machine& m, const PtxInstruction& op) {
  const unsigned bits = op.type().bits;
  m.write(op.operands[0], unsigned(std::countl_zero(m.read(op.operands.at(1), op.type()))) - (64 - bits));
}
void reverse(Machine& m, const PtxInstruction& op) {
  std::uint64_t value = m.read(op.operands.at(1), op.type()), result = 0;
  for (unsigned i = 0; i < op.type().bits; ++i, value >>= 1) result = result << 1 | (value & 1);
  m.write(op.operands[0], result);
}
void highest(Machine& m, const PtxInstruction& op) {
  const PtxType type = op.type();
  std::uint64_t value = m.read(op.operands.at(1), type);
  if (type.kind == 's' && (value >> (type.bits - 1) & 1) != 0) value = ~value & (~0ull >> (64 - type.bits));
  const unsigned position = 63 - unsigned(std::countl_zero(value));
  m.write(op.operands[0], value == 0 ? 0xFFFFFFFFu : op.has("shiftamt") ? type.bits - 1 - position : position);
}

void dot_of_bytes(Machine& m, const PtxInstruction& op) {
  if (op.types.at(0).kind != op.types.at(1).kind) refuse(m, op);
  const auto a = m.read_as<std::uint32_t>(op.operands.at(1)), b = m.read_as<std::uint32_t>(op.operands.at(2)),
             c = m.read_as<std::uint32_t>(op.operands.at(3));
  const bool is_signed = op.types[0].kind == 's';
  m.write(op.operands[0],
          is_signed ? std::uint32_t(device::dot_of_bytes(int(a), int(b), int(c))) : device::dot_of_bytes(a, b, c));
}
void sum_of_difference(Machine& m, const PtxInstruction& op) {
  with_integer(op.type(), [&](auto zero) {
    using T = decltype(zero);
    const T a = m.read_as<T>(op.operands.at(1)), b = m.read_as<T>(op.operands.at(2));
    const auto difference = std::uint64_t(std::max(a, b)) - std::uint64_t(std::min(a, b));
    m.write_as(op.operands[0], T(difference + std::uint64_t(m.read_as<T>(op.operands.at(3)))));
  });
}

constexpr Entry bit_entries[]{
    {"and", bit_and},          {"or", bit_or},       {"xor", bit_xor},      {"not", bit_not},
    {"shl", shift_left},       {"shr", shift_right}, {"shf", funnel_shift}, {"bfe", extract},
    {"bfi", insert},           {"prmt", permute},    {"lop3", lookup},      {"popc", population},
    {"clz", leading_zeros},    {"brev", reverse},    {"bfind", highest},    {"dp4a", dot_of_bytes},
    {"sad", sum_of_difference}};

}  // namespace

std::span<const Entry> bit_instructions() { return bit_entries; }

}  // namespace bankwise::emulator::ptx
