// PTX instructions on bits: logic, shifts, fields, permutations, counts.
#include <algorithm>
#include <bit>

#include <bankwise/emulator/cuda/math.hpp>
#include <bankwise/emulator/cuda/ptx/machine.hpp>

namespace bankwise::emulator::ptx {
namespace {

template <class Operation>
void logic(Machine& m, Operation operation) {
  const auto value = [&](unsigned i) { return m.operand(i).negated ? m.bits(i) == 0 : m.bits(i); };
  m.result(operation(value(1), value(2)) & m.type().mask());
}

void shift_left(Machine& m) {
  const unsigned by = m.word(2);
  m.result(by >= m.type().bits ? 0 : m.bits(1) << by & m.type().mask());
}
void shift_right(Machine& m) {
  const std::uint32_t by = m.word(2);
  with_integer(m.type(), [&](auto zero) {
    using T = decltype(zero);
    const T value = m.number<T>(1);
    m.result_of(by >= 8 * sizeof(T) ? T(value < 0 ? -1 : 0) : T(value >> by));
  });
}
void funnel_shift(Machine& m) {
  const std::uint64_t both = std::uint64_t{m.word(2)} << 32 | m.word(1);
  const unsigned by = m.has("clamp") ? std::min(m.word(3), 32u) : m.word(3) % 32;
  m.result(std::uint32_t(m.has("l") ? both << by >> 32 : both >> by));
}

void extract(Machine& m) {
  const PtxType type = m.type();
  const std::uint64_t value = m.bits(1);
  const unsigned from = m.word(2) & 0xFF, count = m.word(3) & 0xFF;
  const unsigned top = std::min(from + count - 1, type.bits - 1);  // its bit is the sign
  const bool negative = type.kind == 's' && count != 0 && (value >> top & 1) != 0;
  std::uint64_t result = 0;
  for (unsigned i = 0; i < type.bits; ++i) {
    const bool bit = i < count && from + i < type.bits ? (value >> (from + i) & 1) != 0 : negative;
    result |= std::uint64_t{bit} << i;
  }
  m.result(result);
}
void insert(Machine& m) {
  const unsigned at = m.word(3) & 0xFF, count = m.word(4) & 0xFF;
  if (at >= m.type().bits) return m.result(m.bits(2));
  const std::uint64_t ones = count >= 64 ? ~0ull : (1ull << count) - 1, mask = ones << at & m.type().mask();
  m.result((m.bits(2) & ~mask) | (m.bits(1) << at & mask));
}

/// Ones: so many from a position on.
void mask(Machine& m) {
  const auto limited = [&](unsigned i) { return m.has("wrap") ? m.word(i) % 32 : std::min(m.word(i), 32u); };
  m.result(std::uint32_t(((std::uint64_t{1} << limited(2)) - 1) << limited(1)));
}

void permute(Machine& m) {
  if (m.instruction->modifiers.size() > 1) m.refuse();  // the special modes
  m.result(cuda::__byte_perm(m.word(1), m.word(2), m.word(3)));
}

void lookup(Machine& m) {
  const std::uint32_t a = m.word(1), b = m.word(2), c = m.word(3), table = m.word(4);
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if ((table >> i & 1) == 0) continue;
    result |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  }
  m.result(result);
}

void reverse(Machine& m) {
  std::uint64_t value = m.bits(1), result = 0;
  for (unsigned i = 0; i < m.type().bits; ++i, value >>= 1) result = result << 1 | (value & 1);
  m.result(result);
}
void highest(Machine& m) {
  const PtxType type = m.type();
  std::uint64_t value = m.bits(1);
  if (type.kind == 's' && (value >> (type.bits - 1) & 1) != 0) value = ~value & type.mask();
  const unsigned position = 63 - unsigned(std::countl_zero(value));
  m.result(value == 0 ? 0xFFFFFFFFu : m.has("shiftamt") ? type.bits - 1 - position : position);
}

constexpr Entry bit_entries[]{
    {"and", [](Machine& m) { logic(m, [](auto a, auto b) { return a & b; }); }},
    {"or", [](Machine& m) { logic(m, [](auto a, auto b) { return a | b; }); }},
    {"xor", [](Machine& m) { logic(m, [](auto a, auto b) { return a ^ b; }); }},
    {"not", [](Machine& m) { m.result(~m.bits(1) & m.type().mask()); }},
    {"shl", shift_left},
    {"shr", shift_right},
    {"shf", funnel_shift},
    {"bfe", extract},
    {"bfi", insert},
    {"bmsk", mask},
    {"prmt", permute},
    {"lop3", lookup},
    {"popc", [](Machine& m) { m.result(unsigned(std::popcount(m.bits(1)))); }},
    {"clz", [](Machine& m) { m.result(unsigned(std::countl_zero(m.bits(1))) - (64 - m.type().bits)); }},
    {"brev", reverse},
    {"bfind", highest}};

}  // namespace

std::span<const Entry> bit_instructions() { return bit_entries; }

}  // namespace bankwise::emulator::ptx
