// SPDX-License-Identifier: MIT
//
// PTX instructions on memory: loads, stores, atomics, asynchronous copies, barrier objects.
#include <algorithm>
#include <cstring>

#include <bankwise/emulator/cuda/ptx/machine.hpp>

namespace bankwise::emulator::ptx {
namespace {

unsigned bytes_of(const Operand& value, Type type) {
  return type.bits / 8 * (value.kind == Operand::Kind::list ? unsigned(value.parts.size()) : 1);
}

void load(Machine& m, const Instruction& one) {
  const Operand& to = one.operands.at(0);
  const Type type = one.type();
  const std::byte* from = m.address(one.operands.at(1), one);
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

void store(Machine& m, const Instruction& one) {
  const Operand& from = one.operands.at(1);
  const Type type = one.type();
  std::byte* const to = m.address(one.operands.at(0), one);
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
T changed(const Instruction& one, T old, T value, T swap) {
  if (one.has("exch")) return value;
  if (one.has("cas")) return old == value ? swap : old;
  if constexpr (std::is_floating_point_v<T>) {
    if (one.has("min")) return std::min(old, value);
    if (one.has("max")) return std::max(old, value);
    return old + value;
  } else {
    using U = std::make_unsigned_t<T>;
    if (one.has("min")) return std::min(old, value);
    if (one.has("max")) return std::max(old, value);
    if (one.has("and")) return T(old & value);
    if (one.has("or")) return T(old | value);
    if (one.has("xor")) return T(old ^ value);
    if (one.has("inc")) return old >= value ? T(0) : T(old + 1);
    if (one.has("dec")) return old == 0 || old > value ? value : T(old - 1);
    return T(U(old) + U(value));
  }
}

/// atom and red; the latter has no result.
// NOLINTNEXTLINE(readability-function-cognitive-complexity): PTX's cases
void atomic(Machine& m, const Instruction& one) {
  const bool has_result = one.name == "atom";
  const Operand& where = one.operands.at(has_result ? 1 : 0);
  const Operand& value = one.operands.at(has_result ? 2 : 1);
  Type type = one.type();
  if (is_small(type)) {
    if (!one.has("add")) refuse(m, one);
    std::byte* const place = m.address(where, one);
    const auto old =
        device::small_atomic_add_from(format_of(type), place, std::uint32_t(m.read(value)), type.bits / 8, m.caller);
    if (has_result) m.write(one.operands[0], old);
    return;
  }
  if (value.kind == Operand::Kind::list) refuse(m, one);
  if (type.kind == 'b') type.kind = 'u';
  std::byte* const place = m.address(where, one);
  const bool is_loop = !one.has("exch") && !one.has("cas") && (type.kind == 'f' || type.bits == 64);
  const bool increments =
      !has_result && one.has("add") && type.bits == 32 && value.kind == Operand::Kind::number && value.bits == 1;
  before_atomic(one.has("cas") ? banks::Operation::atomic_cas
                : increments   ? banks::Operation::atomic_inc
                               : banks::Operation::atomic,
                is_loop, place, type.bits / 8, m.caller);
  const bool known = with_number(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (sizeof(T) >= 2) {
      const T operand = m.read_as<T>(value);
      const T swap = one.has("cas") ? m.read_as<T>(one.operands.at(has_result ? 3 : 2)) : T();
      auto* const address = reinterpret_cast<T*>(place);
      T old, now;
      __atomic_load(address, &old, __ATOMIC_RELAXED);
      do now = changed(one, old, operand, swap);
      while (!__atomic_compare_exchange(address, &old, &now, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
      if (has_result) m.write_as(one.operands[0], old);
    }
  });
  if (!known) refuse(m, one);
}

// --- asynchronous copies ---

void copy(Machine& m, const Instruction& one) {
  if (!one.has("async") || one.has("bulk") || one.has("reduce")) refuse(m, one);  // TMA
  if (one.has("commit_group")) return commit_copies();
  if (one.has("wait_group")) return wait_for_copies(unsigned(m.read(one.operands.at(0))), m.caller);
  if (one.has("wait_all")) return wait_for_all_copies(m.caller);
  if (one.has("mbarrier")) {
    // The lane arrives as soon as its copies are done: here, immediately.
    wait_for_all_copies(m.caller);
    m.parts.next();
    if (one.has("noinc")) arrive(m.address(one.operands.at(0), one), 1, 0, m.caller);
    return;
  }
  const auto* const from = reinterpret_cast<const void*>(m.read(one.operands.at(1).parts.at(0)) + one.operands[1].bits);
  const auto bytes = unsigned(m.read(one.operands.at(2)));
  unsigned given = bytes;
  if (one.operands.size() > 3) {
    const Operand& last = one.operands[3];
    const bool is_size = last.kind == Operand::Kind::given || last.kind == Operand::Kind::number;
    given = is_size ? unsigned(m.read(last)) : m.predicate(last) ? 0 : bytes;
  }
  start_copy(m.address(one.operands[0], one), from, bytes, given, m.caller);
}

void barrier_object(Machine& m, const Instruction& one) {
  const bool has_result = one.operands.at(0).kind != Operand::Kind::address;
  const Operand& where = one.operands.at(has_result ? 1 : 0);
  const void* const object = m.address(where, one);
  const auto number = [&](unsigned i, std::uint64_t otherwise) {
    return i < one.operands.size() ? m.read(one.operands[i]) : otherwise;
  };
  if (one.has("expect_tx") || one.has("complete_tx")) refuse(m, one);
  if (one.has("init")) return init_rounds(object, unsigned(number(1, 1)), m.caller);
  if (one.has("inval")) return end_rounds(object);
  if (one.has("arrive") || one.has("arrive_drop")) {
    const auto arrivals = unsigned(number(has_result ? 2 : 1, 1));
    const std::uint64_t round = arrive(object, arrivals, one.has("arrive_drop") ? arrivals : 0, m.caller);
    if (has_result) m.write(one.operands[0], round);
    return;
  }
  if (!one.has("test_wait") && !one.has("try_wait")) refuse(m, one);
  std::uint64_t round = number(2, 0);
  if (one.has("parity")) {
    // The round before the current one has the other parity, and is done.
    const std::uint64_t done = rounds_done(object, m.caller);
    round = (done & 1) == (round & 1) ? done : done - 1;
    if (round == ~std::uint64_t{0}) return m.write(one.operands[0], 1);
  }
  if (one.has("test_wait")) return m.write(one.operands[0], is_round_done(object, round, m.caller) ? 1 : 0);
  wait_for_round(object, round, m.caller);
  m.write(one.operands[0], 1);
}

// --- addresses, fences, hints ---

void convert_address(Machine& m, const Instruction& one) {
  const bool shared = one.has("shared") || one.has("shared::cta");
  const std::uint64_t address = m.read(one.operands.at(1));
  if (!shared) return m.write(one.operands[0], address);
  if (one.has("to")) return m.write(one.operands[0], to_shared_address(reinterpret_cast<const void*>(address)));
  m.write(one.operands[0], std::uint64_t(from_shared_address(std::uint32_t(address))));
}
void is_in_space(Machine& m, const Instruction& one) {
  const bool shared = is_shared(reinterpret_cast<const void*>(m.read(one.operands.at(1))));
  m.write(one.operands[0], one.has("shared") ? shared : one.has("global") && !shared);
}
void nothing(Machine&, const Instruction&) {}
void policy(Machine& m, const Instruction& one) {
  m.write(one.operands.at(0), 0);
}

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

std::span<const Entry> memory_instructions() {
  return memory_entries;
}

}  // namespace bankwise::emulator::ptx
