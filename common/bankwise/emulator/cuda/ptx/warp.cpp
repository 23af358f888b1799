// PTX instructions of several lanes: shuffles, votes, barriers, matrices.
#include <algorithm>
#include <array>
#include <bit>

#include <bankwise/emulator/cuda/half_warp.hpp>
#include <bankwise/emulator/cuda/matrices.hpp>
#include <bankwise/emulator/cuda/ptx/machine.hpp>

namespace bankwise::emulator::ptx {
namespace {

unsigned own_lane() { return this_lane().lane % 32; }

void shuffle(Machine& m) {
  const HalfWarp half = meet(WarpMeeting::shuffle, m.word(4), m.word(1), m.caller);
  const device::Shuffle how = m.has("up")     ? device::Shuffle::up
                              : m.has("down") ? device::Shuffle::down
                              : m.has("bfly") ? device::Shuffle::exclusive_or
                                              : device::Shuffle::from;
  const ShuffleSource source = source_of(how, own_lane(), m.word(2), m.word(3));
  m.result(half.has(source.lane) ? std::uint32_t(half.values[source.lane]) : 0xCDCDCDCD);
  m.second_result(source.valid);
}

void vote(Machine& m) {
  const HalfWarp half = meet(WarpMeeting::vote, m.word(2), m.predicate(1), m.caller);
  const std::uint32_t yes = half.lanes_with([](std::uint64_t value) { return value != 0; });
  const bool all = yes == half.came, none = yes == 0;
  m.result(m.has("ballot") ? yes : m.has("all") ? all : m.has("any") ? !none : all || none);
}

void match(Machine& m) {
  const std::uint64_t own = m.bits(1);
  const HalfWarp half = meet(WarpMeeting::match, m.word(2), own, m.caller);
  const std::uint32_t same = half.lanes_with([&](std::uint64_t value) { return value == own; });
  const bool all_equal = same == half.came;
  m.result(m.has("all") && !all_equal ? 0 : same);
  m.second_result(all_equal);
}

void reduce(Machine& m) {
  const HalfWarp half = meet(WarpMeeting::reduce, m.word(2), m.word(1), m.caller);
  constexpr std::pair<std::string_view, device::Reduction> operations[]{
      {"add", device::Reduction::add},     {"min", device::Reduction::minimum}, {"max", device::Reduction::maximum},
      {"and", device::Reduction::bit_and}, {"or", device::Reduction::bit_or},   {"xor", device::Reduction::bit_xor}};
  for (const auto& [name, operation] : operations) {
    if (!m.has(name)) continue;
    if (m.type().kind == 's') return m.result_of(half.reduced<int>(operation));
    return m.result(half.reduced<unsigned>(operation));
  }
  m.refuse();
}

void elect(Machine& m) {
  const HalfWarp half = meet(WarpMeeting::vote, m.word(1), 1, m.caller);
  const auto leader = unsigned(std::countr_zero(half.came));
  m.result(leader);
  m.second_result(leader == own_lane());
}

void barrier(Machine& m) {
  if (m.has("warp")) {
    meet(WarpMeeting::sync, m.word(0), 0, m.caller);
    return;
  }
  const bool only_arrives = m.has("arrive");
  if (m.has("red") || m.has("cluster") || (only_arrives && m.count() < 2)) m.refuse();
  if (m.count() >= 2) return meet_named(m.word(0), m.word(1), only_arrives, m.caller);
  meet_block(0, m.caller);
}

unsigned matrices_of(const Machine& m) {
  if (!m.has("b16")) m.refuse();
  return m.has("x4") ? 4 : m.has("x2") ? 2 : 1;
}
void load_matrix(Machine& m) {
  const unsigned count = matrices_of(m);
  const auto to = m.operand(0).elements();
  if (to.size() != count) m.refuse();
  std::uint32_t registers[4];
  load_matrices(registers, count, m.has("trans"), m.address(1), m.caller, m.parts);
  for (unsigned i = 0; i < count; ++i) m.write(to[i], registers[i]);
}
void store_matrix(Machine& m) {
  const unsigned count = matrices_of(m);
  const auto from = m.operand(1).elements();
  if (from.size() != count) m.refuse();
  std::uint32_t registers[4];
  for (unsigned i = 0; i < count; ++i) registers[i] = std::uint32_t(m.read(from[i]));
  store_matrices(registers, count, m.has("trans"), m.address(0), m.caller, m.parts);
}

using device::Number;

Number number_of(const Machine& m, std::size_t i) {
  constexpr std::pair<PtxType, Number> numbers[]{{{'f', 16}, Number::half},    {{'h', 16}, Number::bfloat16},
                                                 {{'t', 32}, Number::tf32},    {{'s', 8}, Number::int8},
                                                 {{'u', 8}, Number::uint8},    {{'f', 32}, Number::float32},
                                                 {{'f', 64}, Number::float64}, {{'s', 32}, Number::int32}};
  for (const auto& [type, number] : numbers) {
    if (type == m.instruction->types[i]) return number;
  }
  m.refuse();
}

/// mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c
void multiply_matrices(Machine& m) {
  const auto& modifiers = m.instruction->modifiers;
  const auto shape = std::find_if(modifiers.begin(), modifiers.end(), [](const std::string& text) {
    return text[0] == 'm' && text.find('k') != std::string::npos;
  });
  if (shape == modifiers.end() || m.instruction->types.size() != 4 || m.count() != 4 || m.has("sp")) m.refuse();
  const std::size_t k = shape->find('k');
  const auto depth = std::uint8_t(std::min(std::atoi(shape->c_str() + k + 1), 255));
  const bool wide = number_of(m, 1) == Number::float64;
  if (shape->substr(0, k) != (wide ? "m8n8" : "m16n8") || depth > 32 || number_of(m, 0) != number_of(m, 3)) m.refuse();
  const auto fragment = [&](device::Fragment::Use use, std::size_t i) {
    return device::Fragment{use, number_of(m, i), std::uint8_t(wide ? 8 : 16), 8, depth, false};
  };
  std::array<std::uint64_t, 16> a{}, b{}, c{};
  const auto read = [&](auto& to, unsigned i, std::size_t most) {
    const auto from = m.operand(i).elements();
    if (from.size() > most) m.refuse();
    std::transform(from.begin(), from.end(), to.begin(), [&](const PtxOperand& element) { return m.read(element); });
  };
  read(a, 1, 4);
  read(b, 2, 2);
  read(c, 3, 4);
  using device::Fragment;
  emulator::multiply(fragment(Fragment::a, 1), fragment(Fragment::b, 2), fragment(Fragment::accumulator, 3), a.data(),
                     b.data(), c.data(), m.caller);
  const auto to = m.operand(0).elements();
  if (to.size() > 4) m.refuse();
  for (unsigned i = 0; i < to.size(); ++i) m.write(to[i], c[i]);
}

void branch(Machine& m) {
  // A loop here waits for other lanes; let them run.
  before_atomic(banks::Operation::atomic, false, nullptr, 4, m.caller);
  meet_at_place(m.caller);
  m.jump = m.instruction->target;
}

constexpr Entry warp_entries[]{
    {"shfl", shuffle},
    {"vote", vote},
    {"match", match},
    {"redux", reduce},
    {"activemask", [](Machine& m) { m.result(std::uint32_t(active_lanes(m.caller) >> (this_lane().lane & 32))); }},
    {"elect", elect},
    {"bar", barrier},
    {"barrier", barrier},
    {"ldmatrix", load_matrix},
    {"stmatrix", store_matrix},
    {"mma", multiply_matrices},
    {"bra", branch},
    {"trap", [](Machine& m) { trap("trap", m.caller); }},
    {"exit", [](Machine& m) { m.refuse(); }}};

}  // namespace

std::span<const Entry> warp_instructions() { return warp_entries; }

}  // namespace bankwise::emulator::ptx
