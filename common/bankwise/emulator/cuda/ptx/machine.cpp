// Runs inline PTX. Compiled without instrumentation.
#include <bankwise/emulator/cuda/ptx/machine.hpp>

#include <memory>
#include <unordered_map>

#include <bankwise/emulator/core/block_runner.hpp>
#include <bankwise/emulator/cuda/ptx.hpp>

namespace bankwise::emulator::ptx {
namespace {

using Special = std::uint64_t (*)(const LaneIdentity& lane, const void* caller);
constexpr Special clock = [](const LaneIdentity&, const void* caller) { return std::uint64_t(steps(caller)); };
// At most 32 lanes are numbered together.
std::uint32_t own_bit(const LaneIdentity& lane) { return 1u << lane.lane % 32; }

#define BANKWISE_SPECIAL(expression) \
  []([[maybe_unused]] const LaneIdentity& lane, const void*) -> std::uint64_t { return expression; }
constexpr std::pair<std::string_view, Special> special_registers[]{
    {"laneid", BANKWISE_SPECIAL(lane.lane % 32)},
    {"warpid", BANKWISE_SPECIAL(lane.rank / 32)},
    {"nwarpid", BANKWISE_SPECIAL((lane.block_size.count() + 31) / 32)},
    {"tid.x", BANKWISE_SPECIAL(lane.thread.x)},
    {"tid.y", BANKWISE_SPECIAL(lane.thread.y)},
    {"tid.z", BANKWISE_SPECIAL(lane.thread.z)},
    {"ntid.x", BANKWISE_SPECIAL(lane.block_size.x)},
    {"ntid.y", BANKWISE_SPECIAL(lane.block_size.y)},
    {"ntid.z", BANKWISE_SPECIAL(lane.block_size.z)},
    {"ctaid.x", BANKWISE_SPECIAL(lane.block.x)},
    {"ctaid.y", BANKWISE_SPECIAL(lane.block.y)},
    {"ctaid.z", BANKWISE_SPECIAL(lane.block.z)},
    {"nctaid.x", BANKWISE_SPECIAL(lane.grid.x)},
    {"nctaid.y", BANKWISE_SPECIAL(lane.grid.y)},
    {"nctaid.z", BANKWISE_SPECIAL(lane.grid.z)},
    {"smid", BANKWISE_SPECIAL(lane.block.x)},  // as if each block had a multiprocessor
    {"nsmid", BANKWISE_SPECIAL(132)},
    {"lanemask_eq", BANKWISE_SPECIAL(own_bit(lane))},
    {"lanemask_lt", BANKWISE_SPECIAL(own_bit(lane) - 1)},
    {"lanemask_le", BANKWISE_SPECIAL(own_bit(lane) | (own_bit(lane) - 1))},
    {"lanemask_gt", BANKWISE_SPECIAL(~(own_bit(lane) | (own_bit(lane) - 1)))},
    {"lanemask_ge", BANKWISE_SPECIAL(~(own_bit(lane) - 1))},
    {"WARP_SZ", BANKWISE_SPECIAL(32)},
    {"clock", clock},
    {"clock64", clock},
    {"globaltimer", clock},
    {"globaltimer_lo", clock},
    {"clock_hi", BANKWISE_SPECIAL(0)},
    {"globaltimer_hi", BANKWISE_SPECIAL(0)},
    {"gridid", BANKWISE_SPECIAL(0)}};
#undef BANKWISE_SPECIAL

[[noreturn]] void stop(Lane& lane, const std::string& instruction, const void* caller) {
  lane.runner->fail(lane, Fault::trap, std::uintptr_t(caller),
                    "executes inline PTX that is not emulated: " + instruction);
}

const PtxProgram& program_of(const char* text, const void* caller) {
  Lane& lane = *BlockRunner::current;
  const OffLane off;
  auto& known = lane.runner->ptx_programs()[text];
  std::string unsupported;
  try {
    if (known == nullptr) known = std::make_shared<const PtxProgram>(parse(text));
  } catch (const UnsupportedPtx& error) {
    unsupported = error.what();
  }
  if (known == nullptr) stop(lane, unsupported, caller);
  return *static_cast<const PtxProgram*>(known.get());
}

}  // namespace

int special_register(std::string_view name) {
  for (std::size_t i = 0; i < std::size(special_registers); ++i) {
    if (special_registers[i].first == name) return int(i);
  }
  return -1;
}

void Machine::refuse() const {
  Lane& lane = *BlockRunner::current;
  const OffLane off;
  stop(lane, instruction->text(), caller);
}

const PtxOperand& Machine::operand(std::size_t i) const {
  if (i >= count()) refuse();
  return instruction->operands[i];
}

std::uint64_t Machine::read(const PtxOperand& operand) const {
  switch (operand.kind) {
    case PtxOperand::Kind::given: return operand.index < given.size() ? given[operand.index] : 0;
    case PtxOperand::Kind::local: return locals[operand.index];
    case PtxOperand::Kind::number:
    case PtxOperand::Kind::real: return operand.bits;
    case PtxOperand::Kind::special: return special_registers[operand.index].second(this_lane(), caller);
    default: return 0;
  }
}

std::uint64_t Machine::read(const PtxOperand& operand, PtxType type) const {
  if (operand.kind == PtxOperand::Kind::real && type.bits == 32) {
    return std::bit_cast<std::uint32_t>(float(std::bit_cast<double>(operand.bits)));
  }
  return read(operand) & type.mask();
}

void Machine::write(const PtxOperand& operand, std::uint64_t bits) {
  if (operand.kind == PtxOperand::Kind::given && operand.index < given.size()) given[operand.index] = bits;
  if (operand.kind == PtxOperand::Kind::local) locals[operand.index] = bits;
}

std::byte* Machine::address(std::size_t i) const {
  const PtxOperand& where = operand(i);
  if (where.kind != PtxOperand::Kind::address) refuse();
  const std::uint64_t base = read(where.parts[0]) + where.bits;
  return in_shared() ? from_shared_address(std::uint32_t(base)) : reinterpret_cast<std::byte*>(base);
}

Handler handler_of(std::string_view name) {
  static const std::unordered_map<std::string_view, Handler> handlers = [] {
    std::unordered_map<std::string_view, Handler> table;
    for (const auto entries :
         {arithmetic_instructions(), bit_instructions(), memory_instructions(), warp_instructions()}) {
      table.insert(entries.begin(), entries.end());
    }
    return table;
  }();
  const auto handler = handlers.find(name);
  return handler == handlers.end() ? nullptr : handler->second;
}

}  // namespace bankwise::emulator::ptx

namespace bankwise::emulator::device {

void interpret_ptx(const char* text, std::uint64_t* operands, std::size_t count, bool is_volatile) noexcept {
  const void* caller = __builtin_return_address(0);
  const ptx::PtxProgram& program = ptx::program_of(text, caller);
  std::uint64_t few[32] = {};
  const auto many = program.locals > 32 ? std::make_unique<std::uint64_t[]>(program.locals) : nullptr;
  Parts parts;
  ptx::Machine machine{{operands, count}, {many ? many.get() : few, program.locals}, caller, parts, is_volatile};
  const auto& instructions = program.instructions;
  for (std::size_t i = 0; i < instructions.size();) {
    const ptx::PtxInstruction& op = instructions[i++];
    machine.instruction = &op;
    machine.jump = -1;
    bool is_complete = true;
    try {
      if (op.guard < 0 || (machine.locals[unsigned(op.guard)] != 0) != op.guard_negated) op.handler(machine);
    } catch (const std::out_of_range&) {  // a type or a modifier is missing
      is_complete = false;
    }
    if (!is_complete) machine.refuse();
    parts.next();
    if (machine.jump < 0) continue;
    i = std::size_t(machine.jump);
    parts.set(machine.jump);
  }
}

}  // namespace bankwise::emulator::device
