// SPDX-License-Identifier: MIT
//
// PTX instructions on memory: loads, stores, atomics, asynchronous copies, barrier objects.
#include <algorithm>
#include <cstring>

#include <bankwise/emulator/cuda/ptx/machine.hpp>

namespace bankwise::emulator::ptx {
namespace {

unsigned bytes_of(const Operand& value, PtxType type) {
  return type.bits / 8 * (value.kind == Operand::Kind::list ? unsigned(value.parts.size()) : 1);
}

void load(Machine& m, const PtxInstruction& op) {
  const Operand& to = op.operands.at(0);
  const PtxType type = op.type();
  const std::byte* from = m.address(op.operands.at(1), op);
  before_access(banks::Operation::load, from, bytes_of(to, type), m.caller);
  const auto read = [&](const Operand& part, unsigned number) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from + number * (type.bits / 8), std::min(8u, type.bits / 8));
    if (type.kind == 's' && type.bits < 32) {  // registers are wider
      with_integer(type, [&](auto zero) { bits = std::uint32_t(std::int32_t(decltype(zero)(bits))); });
    }
    m.write(part, bits);
  };
  if (to.kind != Operand::Kind::list) return read(to, 0);
  for (unsigned i = 0; i < to.parts.size(); ++i) read(to.parts[i], i);
}

void store(Machine& m, const PtxInstruction& op) {
  const Operand& from = op.operands.at(1);
  const PtxType type = op.type();
  std::byte* const to = m.address(op.operands.at(0), op);
  before_access(banks::Operation::store, to, bytes_of(from, type), m.caller);
  const auto write = [&](const Operand& part, unsigned number) {
    const std::uint64_t bits = m.read(part, type);
    std::memcpy(to + number * (type.bits / 8), &bits, std::min(8u, type.bits / 8));
  };
  if (from.kind != Operand::Kind::list) return write(from, 0);
  for (unsigned i = 0; i < from.parts.size(); ++i) write(from.parts[i], i);
}

// --- atomics ---

template <class T>
// NOLINTNEXTLINE(readability-function-cognitive-complexity): a list of operators
T changed(const PtxInstruction& op, T old, T value, T swap) {
  if (op.has("exch")) return value;
  if (op.has("cas")) return old == value ? swap : old;
  if constexpr (std::is_floating_point_v<T>) {
    if (op.has("min")) return std::min(old, value);
    if (op.has("max")) return std::max(old, value);
    return old + value;
  } else {
    using U = std::make_unsigned_t<T>;
    if (op.has("min")) return std::min(old, value);
    if (op.has("max")) return std::max(old, value);
    if (op.has("and")) return T(old & value);
    if (op.has("or")) return T(old | value);
    if (op.has("xor")) return T(old ^ value);
    if (op.has("inc")) return old >= value ? T(0) : T(old + 1);
    if (op.has("dec")) return old == 0 || old > value ? value : T(old - 1);
    return T(U(old) + U(value));
  }
}

/// atom and red; the latter has no result.
// NOLINTNEXTLINE(readability-function-cognitive-complexity): PTX's cases
void atomic(Machine& m, const PtxInstruction& op) {
  const bool has_result = op.name == "atom";
  const Operand& where = op.operands.at(has_result ? 1 : 0);
  const Operand& value = op.operands.at(has_result ? 2 : 1);
  PtxType type = op.type();
  if (is_small(type)) {
    if (!op.has("add")) refuse(m, op);
    std::byte* const place = m.address(where, op);
    const auto old =
        device::small_atomic_add_from(format_of(type), place, std::uint32_t(m.read(value)), type.bits / 8, m.caller);
    if (has_result) m.write(op.operands[0], old);
    return;
  }
  if (value.kind == Operand::Kind::list) refuse(m, op);
  if (type.kind == 'b') type.kind = 'u';
  std::byte* const place = m.address(where, op);
  const bool is_loop = !op.has("exch") && !op.has("cas") && (type.kind == 'f' || type.bits == 64);
  const bool increments =
      !has_result && op.has("add") && type.bits == 32 && value.kind == Operand::Kind::number && value.bits == 1;
  before_atomic(op.has("cas") ? banks::Operation::atomic_cas
                : increments  ? banks::Operation::atomic_inc
                              : banks::Operation::atomic,
                is_loop, place, type.bits / 8, m.caller);
  const bool known = with_number(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (sizeof(T) >= 2) {
      const T operand = m.read_as<T>(value);
      const T swap = op.has("cas") ? m.read_as<T>(op.operands.at(has_result ? 3 : 2)) : T();
      auto* const address = reinterpret_cast<T*>(place);
      T old, now;
      __atomic_load(address, &old, __ATOMIC_RELAXED);
      do now = changed(op, old, operand, swap);
      while (!__atomic_compare_exchange(address, &old, &now, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
      if (has_result) m.write_as(op.operands[0], old);
    }
  });
  if (!known) refuse(m, op);
}

// --- asynchronous copies ---

void copy(Machine& m, const PtxInstruction& op) {
  if (!op.has("async") || op.has("bulk") || op.has("reduce")) refuse(m, op);  // TMA
  if (op.has("commit_group")) return commit_copies();
  if (op.has("wait_group")) return wait_for_copies(unsigned(m.read(op.operands.at(0))), m.caller);
  if (op.has("wait_all")) return wait_for_all_copies(m.caller);
  if (op.has("mbarrier")) {
    // The lane arrives as soon as its copies are done: here, immediately.
    wait_for_all_copies(m.caller);
    m.parts.next();
    if (op.has("noinc")) arrive(m.address(op.operands.at(0), op), 1, 0, m.caller);
    return;
  }
  const auto* const from = reinterpret_cast<const void*>(m.read(op.operands.at(1).parts.at(0)) + op.operands[1].bits);
  const auto bytes = unsigned(m.read(op.operands.at(2)));
  unsigned given = bytes;
  if (op.operands.size() > 3) {
    const Operand& last = op.operands[3];
    const bool is_size = last.kind == Operand::Kind::given || last.kind == Operand::Kind::number;
    given = is_size ? unsigned(m.read(last)) : m.predicate(last) ? 0 : bytes;
  }
  start_copy(m.address(op.operands[0], op), from, bytes, given, m.caller);
}

void barrier_object(Machine& m, const PtxInstruction& op) {
  const bool has_result = op.operands.at(0).kind != Operand::Kind::address;
  const Operand& where = op.operands.at(has_result ? 1 : 0);
  const void* const object = m.address(where, op);
  const auto number = [&](unsigned i, std::uint64_t otherwise) {
    return i < op.operands.size() ? m.read(op.operands[i]) : otherwise;
  };
  if (op.has("expect_tx") || op.has("complete_tx")) refuse(m, op);
  if (op.has("init")) return init_rounds(object, unsigned(number(1, 1)), m.caller);
  if (op.has("inval")) return end_rounds(object);
  if (op.has("arrive") || op.has("arrive_drop")) {
    const auto arrivals = unsigned(number(has_result ? 2 : 1, 1));
    const std::uint64_t round = arrive(object, arrivals, op.has("arrive_drop") ? arrivals : 0, m.caller);
    if (has_result) m.write(op.operands[0], round);
    return;
  }
  if (!op.has("test_wait") && !op.has("try_wait")) refuse(m, op);
  std::uint64_t round = number(2, 0);
  if (op.has("parity")) {
    // The round before the current one has the other parity, and is done.
    const std::uint64_t done = rounds_done(object, m.caller);
    round = (done & 1) == (round & 1) ? done : done - 1;
    if (round == ~std::uint64_t{0}) return m.write(op.operands[0], 1);
  }
  if (op.has("test_wait")) return m.write(op.operands[0], is_round_done(object, round, m.caller) ? 1 : 0);
  wait_for_round(object, round, m.caller);
  m.write(op.operands[0], 1);
}

// --- addresses, fences, hints ---

void convert_address(Machine& m, const PtxInstruction& op) {
  const bool shared = op.has("shared") || op.has("shared::cta");
  const std::uint64_t address = m.read(op.operands.at(1));
  if (!shared) return m.write(op.operands[0], address);
  if (op.has("to")) return m.write(op.operands[0], to_shared_address(reinterpret_cast<const void*>(address)));
  m.write(op.operands[0], std::uint64_t(from_shared_address(std::uint32_t(address))));
}
void is_in_space(Machine& m, const PtxInstruction& op) {
  const bool shared = is_shared(reinterpret_cast<const void*>(m.read(op.operands.at(1))));
  m.write(op.operands[0], op.has("shared") ? shared : op.has("global") && !shared);
}
void nothing(Machine&, const PtxInstruction&) {}
void policy(Machine& m, const PtxInstruction& op) { m.write(op.operands.at(0), 0); }

constexpr Entry memory_entries[]{{"ld", load},
                                 {"ldu", load},
                                 {"st", store},
                                 {"atom", atomic},
                                 {"red", atomic},
                                 {"cp", copy},
                                 {"mbarrier", barrier_object},
                                 {"cvta", convert_address},
                                 {"isspacep", is_in_space},
                                 {"membar", nothing},
                                 {"fence", nothing},
                                 {"prefetch", nothing},
                                 {"prefetchu", nothing},
                                 {"discard", nothing},
                                 {"griddepcontrol", nothing},
                                 {"nanosleep", nothing},
                                 {"createpolicy", policy}};

}  // namespace

std::span<const Entry> memory_instructions() { return memory_entries; }

}  // namespace bankwise::emulator::ptx
