// SPDX-License-Identifier: MIT
//
// PTX instructions of several lanes: shuffles, votes, barriers, matrices.
#include <algorithm>
#include <bit>

#include <bankwise/emulator/cuda/matrices.hpp>
#include <bankwise/emulator/cuda/ptx/machine.hpp>

namespace bankwise::emulator::ptx {
namespace {

unsigned own_lane() { return this_lane().lane % 32; }

/// The lanes of the caller's half of a warp that took part.
struct HalfWarp {
  std::uint32_t came;
  const std::uint64_t* values;
  bool has(unsigned lane) const { return (came >> lane & 1) != 0; }
};
HalfWarp meet(Machine& m, WarpMeeting kind, std::uint64_t mask, std::uint64_t value) {
  const LaneIdentity& lane = this_lane();
  const unsigned first = lane.lane & 32;
  const std::uint64_t warp_mask = lane.warp_size >= 64 ? ~0ull : (1ull << lane.warp_size) - 1;
  const Meeting meeting = meet_warp(kind, (mask & 0xFFFFFFFF) << first & warp_mask, value, m.caller);
  return {std::uint32_t(meeting.mask >> first), meeting.values + first};
}

void shuffle(Machine& m, const PtxInstruction& op) {
  const auto& args = op.operands;
  const HalfWarp half = meet(m, WarpMeeting::shuffle, m.read(args.at(4)), m.read(args.at(1), {}));
  const auto by = unsigned(m.read(args.at(2)) & 31), clamp = unsigned(m.read(args.at(3)));
  const unsigned segment = clamp >> 8 & 31, own = own_lane();
  const unsigned last = (own & segment) | (clamp & 31 & ~segment);
  unsigned source = 0;
  bool valid = false;
  if (op.has("up")) {
    source = own - by;
    valid = int(source) >= int(last);
  } else {
    source = op.has("down") ? own + by : op.has("bfly") ? own ^ by : (own & segment) | (by & ~segment);
    valid = source <= last;
  }
  if (!valid) source = own;
  m.write(args[0], half.has(source) ? std::uint32_t(half.values[source]) : 0xCDCDCDCD);
  if (!args[0].parts.empty()) m.write(args[0].parts[0], valid ? 1 : 0);
}

void vote(Machine& m, const PtxInstruction& op) {
  const HalfWarp half = meet(m, WarpMeeting::vote, m.read(op.operands.at(2)), m.predicate(op.operands.at(1)) ? 1 : 0);
  std::uint32_t yes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (half.has(lane) && half.values[lane] != 0) yes |= 1u << lane;
  }
  const bool all_yes = yes == half.came, none = yes == 0;
  m.write(op.operands[0], op.has("ballot") ? yes : op.has("all") ? all_yes : op.has("any") ? !none : all_yes || none);
}

void match(Machine& m, const PtxInstruction& op) {
  const std::uint64_t value = m.read(op.operands.at(1), op.type());
  const HalfWarp half = meet(m, WarpMeeting::match, m.read(op.operands.at(2)), value);
  std::uint32_t same = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (half.has(lane) && half.values[lane] == value) same |= 1u << lane;
  }
  const bool all_equal = same == half.came;
  m.write(op.operands[0], op.has("all") && !all_equal ? 0 : same);
  if (!op.operands[0].parts.empty()) m.write(op.operands[0].parts[0], all_equal ? 1 : 0);
}

void reduce(Machine& m, const PtxInstruction& op) {
  const HalfWarp half = meet(m, WarpMeeting::reduce, m.read(op.operands.at(2)), m.read(op.operands.at(1), {}));
  const bool is_signed = op.type().kind == 's';
  std::uint32_t result = op.has("and") ? ~0u : 0;
  bool first = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!half.has(lane)) continue;
    const auto value = std::uint32_t(half.values[lane]);
    const bool less = is_signed ? std::int32_t(value) < std::int32_t(result) : value < result;
    if (op.has("add")) result += value;
    if (op.has("and")) result &= value;
    if (op.has("or")) result |= value;
    if (op.has("xor")) result ^= value;
    if (op.has("min") && (first || less)) result = value;
    if (op.has("max") && (first || !less)) result = value;
    first = false;
  }
  m.write(op.operands[0], result);
}

void active(Machine& m, const PtxInstruction& op) {
  m.write(op.operands.at(0), std::uint32_t(active_lanes(m.caller) >> (this_lane().lane & 32)));
}

void elect(Machine& m, const PtxInstruction& op) {
  const auto mask = std::uint32_t(m.read(op.operands.at(1)));
  const HalfWarp half = meet(m, WarpMeeting::vote, mask, 1);
  const auto leader = unsigned(std::countr_zero(half.came));
  m.write(op.operands[0], leader);
  if (!op.operands[0].parts.empty()) m.write(op.operands[0].parts[0], leader == own_lane() ? 1 : 0);
}

void barrier(Machine& m, const PtxInstruction& op) {
  if (op.has("warp")) {
    meet(m, WarpMeeting::sync, m.read(op.operands.at(0)), 0);
    return;
  }
  if (op.has("red") || op.has("cluster")) refuse(m, op);
  const bool only_arrives = op.has("arrive");
  if (op.operands.size() < 2) {
    if (only_arrives) refuse(m, op);
    meet_block(0, m.caller);
    return;
  }
  meet_named(unsigned(m.read(op.operands[0])), unsigned(m.read(op.operands[1])), only_arrives, m.caller);
}

unsigned matrices_of(const PtxInstruction& op) { return op.has("x4") ? 4 : op.has("x2") ? 2 : 1; }
const Operand& element(const Operand& operand, unsigned i) {
  return operand.kind == Operand::Kind::list ? operand.parts.at(i) : operand;
}

void load_matrix(Machine& m, const PtxInstruction& op) {
  if (!op.has("b16")) refuse(m, op);
  const unsigned count = matrices_of(op);
  std::uint32_t registers[4];
  load_matrices(registers, count, op.has("trans"), m.address(op.operands.at(1), op), m.caller, m.parts);
  for (unsigned i = 0; i < count; ++i) m.write(element(op.operands[0], i), registers[i]);
}
void store_matrix(Machine& m, const PtxInstruction& op) {
  if (!op.has("b16")) refuse(m, op);
  const unsigned count = matrices_of(op);
  std::uint32_t registers[4];
  for (unsigned i = 0; i < count; ++i) registers[i] = std::uint32_t(m.read(element(op.operands.at(1), i)));
  store_matrices(registers, count, op.has("trans"), m.address(op.operands.at(0), op), m.caller, m.parts);
}

Number number_of(Machine& m, const PtxInstruction& op, PtxType type) {
  if (type.kind == 'f' && type.bits == 16) return Number::half;
  if (type.kind == 'f' && type.bits == 32) return Number::float32;
  if (type.kind == 'f' && type.bits == 64) return Number::float64;
  if (type.kind == 'h' && !type.pair) return Number::bfloat16;
  if (type.kind == 't') return Number::tf32;
  if (type.kind == 's' && type.bits == 8) return Number::int8;
  if (type.kind == 'u' && type.bits == 8) return Number::uint8;
  if (type.kind == 's' && type.bits == 32) return Number::int32;
  refuse(m, op);
}

/// mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c
void multiply_matrices(Machine& m, const PtxInstruction& op) {
  const auto shape = std::find_if(op.modifiers.begin(), op.modifiers.end(), [](const std::string& text) {
    return text[0] == 'm' && text.find('k') != std::string::npos;
  });
  if (shape == op.modifiers.end() || op.types.size() != 4 || op.operands.size() != 4 || op.has("sp")) refuse(m, op);
  Product product{number_of(m, op, op.types[1]), number_of(m, op, op.types[2]), number_of(m, op, op.types[3]),
                  unsigned(std::atoi(shape->c_str() + shape->find('k') + 1))};
  const bool is_double = product.a == Number::float64;
  if (shape->substr(0, shape->find('k')) != (is_double ? "m8n8" : "m16n8") || product.depth > 32 ||
      op.types[0].kind != op.types[3].kind || op.types[0].bits != op.types[3].bits) {
    refuse(m, op);
  }
  ProductRegisters registers;
  const auto read = [&](auto& to, const Operand& from) {
    if (from.kind != Operand::Kind::list) {
      to[0] = m.read(from);
      return;
    }
    if (from.parts.size() > to.size()) refuse(m, op);
    for (unsigned i = 0; i < from.parts.size(); ++i) to[i] = m.read(from.parts[i]);
  };
  read(registers.a, op.operands[1]);
  read(registers.b, op.operands[2]);
  read(registers.c, op.operands[3]);
  multiply(product, registers, m.caller);
  const Operand& to = op.operands[0];
  for (unsigned i = 0; i < to.parts.size(); ++i) m.write(to.parts[i], registers.c.at(i));
}

void branch(Machine& m, const PtxInstruction& op) {
  // A loop here waits for other lanes; let them run.
  before_atomic(banks::Operation::atomic, false, nullptr, 4, m.caller);
  meet_at_place(m.caller);
  m.jump = op.target;
}
void end(Machine& m, const PtxInstruction& op) {
  if (op.name == "trap") trap("trap", m.caller);
  refuse(m, op);
}

constexpr Entry warp_entries[]{{"shfl", shuffle},
                               {"vote", vote},
                               {"match", match},
                               {"redux", reduce},
                               {"activemask", active},
                               {"elect", elect},
                               {"bar", barrier},
                               {"barrier", barrier},
                               {"ldmatrix", load_matrix},
                               {"stmatrix", store_matrix},
                               {"mma", multiply_matrices},
                               {"bra", branch},
                               {"trap", end},
                               {"exit", end}};

}  // namespace

std::span<const Entry> warp_instructions() { return warp_entries; }

}  // namespace bankwise::emulator::ptx
