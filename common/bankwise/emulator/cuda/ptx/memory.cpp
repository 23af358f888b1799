// PTX instructions on memory: loads, stores, atomics, asynchronous copies, barrier objects.
#include <algorithm>
#include <cstring>

#include <bankwise/emulator/cuda/ptx/machine.hpp>

namespace bankwise::emulator::ptx {
namespace {

bool releases(const Machine& m) { return m.has("release") || m.has("acq_rel"); }

/// A load or a store at the address of operand `place`: calls `move(element of the list, its address)`.
template <class Move>
void access(Machine& m, banks::Operation operation, unsigned place, Move move) {
  const auto elements = m.operand(1 - place).elements();
  const unsigned bytes = m.type().bits / 8;
  std::byte* address = m.address(place);
  if (m.has("relaxed") || m.has("acquire") || releases(m)) {
    before_atomic(operation, false, address, bytes * elements.size(), m.caller, releases(m));
  } else {
    before_access(operation, address, bytes * elements.size(), m.caller, m.is_volatile || m.has("volatile"));
  }
  for (const PtxOperand& element : elements) {
    move(element, address);
    address += bytes;
  }
}

void load(Machine& m) {
  const PtxType type = m.type();
  access(m, banks::Operation::load, 1, [&](const PtxOperand& to, const std::byte* from) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, type.bits / 8);
    if (type.kind == 's' && type.bits < 32) {  // registers are wider
      with_integer(type, [&](auto zero) { bits = std::uint32_t(std::int32_t(decltype(zero)(bits))); });
    }
    m.write(to, bits);
  });
}

void store(Machine& m) {
  access(m, banks::Operation::store, 0, [&](const PtxOperand& from, std::byte* to) {
    const std::uint64_t bits = m.read(from, m.type());
    std::memcpy(to, &bits, m.type().bits / 8);
  });
}

// --- atomics ---

template <class T>
T changed(const Machine& m, T old, T value, T swap) {
  if (m.has("exch")) return value;
  if (m.has("cas")) return old == value ? swap : old;
  if (m.has("min")) return std::min(old, value);
  if (m.has("max")) return std::max(old, value);
  if constexpr (std::is_floating_point_v<T>) {
    return old + value;
  } else {
    if (m.has("and")) return T(old & value);
    if (m.has("or")) return T(old | value);
    if (m.has("xor")) return T(old ^ value);
    if (m.has("inc")) return old >= value ? T(0) : T(old + 1);
    if (m.has("dec")) return old == 0 || old > value ? value : T(old - 1);
    return T(std::uint64_t(old) + std::uint64_t(value));
  }
}

/// atom and red; the latter has no result.
void atomic(Machine& m) {
  const bool has_result = m.instruction->name == "atom", swaps = m.has("cas");
  const unsigned first = has_result ? 1 : 0;
  const PtxOperand& value = m.operand(first + 1);
  PtxType type = m.type();
  if (type.kind == 'b') type.kind = 'u';
  if (value.kind == PtxOperand::Kind::list || (type.is_small() && !m.has("add"))) m.refuse();
  std::byte* const place = m.address(first);
  if (type.is_small()) {
    const auto old =
        device::small_atomic_add_from(type.format(), place, std::uint32_t(m.read(value)), type.bits / 8, m.caller);
    if (has_result) m.result(old);
    return;
  }
  const bool is_loop = !m.has("exch") && !swaps && (type.kind == 'f' || type.bits == 64);
  const bool increments =
      !has_result && m.has("add") && type.bits == 32 && value.kind == PtxOperand::Kind::number && value.bits == 1;
  before_atomic(swaps        ? banks::Operation::atomic_cas
                : increments ? banks::Operation::atomic_inc
                             : banks::Operation::atomic,
                is_loop, place, type.bits / 8, m.caller, releases(m));
  const bool known = type.bits > 8 && with_number(type, [&](auto zero) {
                       using T = decltype(zero);
                       const T operand = m.number<T>(value), swap = swaps ? m.number<T>(first + 2) : T();
                       const T before = change_atomically(reinterpret_cast<T*>(place),
                                                          [&](T old) { return changed(m, old, operand, swap); });
                       if (has_result) m.result_of(before);
                     });
  if (!known) m.refuse();
}

// --- asynchronous copies ---

void copy(Machine& m) {
  if (!m.has("async") || m.has("bulk") || m.has("reduce")) m.refuse();  // TMA
  if (m.has("commit_group")) return commit_copies();
  if (m.has("wait_group")) return wait_for_copies(m.word(0), m.caller);
  if (m.has("wait_all")) return wait_for_all_copies(m.caller);
  if (m.has("mbarrier")) {
    // The lane arrives as soon as its copies are done: here, immediately.
    wait_for_all_copies(m.caller);
    m.parts.next();
    if (m.has("noinc")) arrive(m.address(0), 1, 0, m.caller);
    return;
  }
  const auto* const from = reinterpret_cast<const void*>(m.read(m.operand(1).parts.at(0)) + m.operand(1).bits);
  const unsigned bytes = m.word(2);
  unsigned given = bytes;
  if (m.count() > 3) {
    const PtxOperand::Kind kind = m.operand(3).kind;
    const bool is_size = kind == PtxOperand::Kind::given || kind == PtxOperand::Kind::number;
    given = is_size ? m.word(3) : m.predicate(3) ? 0 : bytes;
  }
  start_copy(m.address(0), from, bytes, given, m.has("cg"), m.caller);
}

void barrier_object(Machine& m) {
  const unsigned first = m.operand(0).kind != PtxOperand::Kind::address ? 1 : 0;  // behind the result
  const void* const object = m.address(first);
  const auto number = [&](unsigned i, std::uint64_t otherwise) {
    return i < m.count() ? m.read(m.operand(i)) : otherwise;
  };
  if (m.has("expect_tx") || m.has("complete_tx")) m.refuse();
  if (m.has("init")) return init_rounds(object, unsigned(number(1, 1)), m.caller);
  if (m.has("inval")) return end_rounds(object);
  if (m.has("arrive") || m.has("arrive_drop")) {
    const auto arrivals = unsigned(number(first + 1, 1));
    const std::uint64_t round = arrive(object, arrivals, m.has("arrive_drop") ? arrivals : 0, m.caller);
    if (first == 1) m.result(round);
    return;
  }
  if (!m.has("test_wait") && !m.has("try_wait")) m.refuse();
  std::uint64_t round = number(2, 0);
  if (m.has("parity")) {
    // The round before the current one has the other parity, and is done.
    const std::uint64_t done = rounds_done(object, m.caller);
    round = (done & 1) == (round & 1) ? done : done - 1;
    if (round == ~std::uint64_t{0}) return m.result(1);
  }
  if (m.has("test_wait")) return m.result(is_round_done(object, round, m.caller));
  wait_for_round(object, round, m.caller);
  m.result(1);
}

// --- addresses, fences, hints ---

void convert_address(Machine& m) {
  const std::uint64_t address = m.read(m.operand(1));
  if (!m.in_shared()) return m.result(address);
  if (m.has("to")) return m.result(to_shared_address(reinterpret_cast<const void*>(address)));
  m.result(std::uint64_t(from_shared_address(std::uint32_t(address))));
}
void is_in_space(Machine& m) {
  const bool shared = is_shared(reinterpret_cast<const void*>(m.read(m.operand(1))));
  m.result(m.in_shared() ? shared : m.has("global") && !shared);
}
void nothing(Machine&) {}

constexpr Entry memory_entries[]{{"ld", load},
                                 {"ldu", load},
                                 {"st", store},
                                 {"atom", atomic},
                                 {"red", atomic},
                                 {"cp", copy},
                                 {"mbarrier", barrier_object},
                                 {"cvta", convert_address},
                                 {"isspacep", is_in_space},
                                 {"membar", [](Machine&) { fence(); }},
                                 {"fence", [](Machine&) { fence(); }},
                                 {"prefetch", nothing},
                                 {"prefetchu", nothing},
                                 {"discard", nothing},
                                 {"griddepcontrol", nothing},
                                 {"nanosleep", nothing},
                                 {"createpolicy", [](Machine& m) { m.result(0); }}};

}  // namespace

std::span<const Entry> memory_instructions() { return memory_entries; }

}  // namespace bankwise::emulator::ptx
