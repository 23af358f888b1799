// SPDX-License-Identifier: MIT
//
// Runs inline PTX. Compiled without instrumentation.
#include <bankwise/emulator/cuda/ptx/machine.hpp>

#include <fmt/format.h>

#include <memory>
#include <unordered_map>

#include <bankwise/emulator/core/block_runner.hpp>
#include <bankwise/emulator/cuda/ptx.hpp>

namespace bankwise::emulator::ptx {
namespace {

std::uint64_t special(unsigned index, const void* caller) {
  const LaneIdentity& lane = this_lane();
  const unsigned own = lane.lane % 32;
  const std::uint32_t bit = std::uint32_t{1} << own;
  switch (index) {
    case 0:
      return own;
    case 1:
      return lane.rank / 32;
    case 2:
      return lane.thread.x;
    case 3:
      return lane.thread.y;
    case 4:
      return lane.thread.z;
    case 5:
      return lane.block_size.x;
    case 6:
      return lane.block_size.y;
    case 7:
      return lane.block_size.z;
    case 8:
      return lane.block.x;
    case 9:
      return lane.block.y;
    case 10:
      return lane.block.z;
    case 11:
      return lane.grid.x;
    case 12:
      return lane.grid.y;
    case 13:
      return lane.grid.z;
    case 14:  // smid: as if each block had a multiprocessor
      return lane.block.x;
    case 15:
      return 132;
    case 16:
    case 17:
    case 18:
    case 22:
      return std::uint64_t(steps(caller));
    case 20:
      return (lane.block_size.count() + 31) / 32;
    case 24:
      return bit;
    case 25:
      return bit | (bit - 1);
    case 26:
      return bit - 1;
    case 27:
      return ~(bit - 1);
    case 28:
      return ~(bit | (bit - 1));
    case 29:
      return 32;
    default:
      return 0;
  }
}

[[noreturn]] void stop(const std::string& message, const void* caller) {
  Lane& lane = *BlockRunner::current;
  lane.runner->fail(lane, Fault::trap, std::uintptr_t(caller), message);
}

const PtxProgram& program_of(const char* text, const void* caller) {
  auto& known = BlockRunner::current->runner->ptx_programs()[text];
  if (known == nullptr) {
    try {
      known = std::make_shared<const PtxProgram>(parse(text));
    } catch (const UnsupportedPtx& error) {
      stop(fmt::format("executes inline PTX that is not emulated: {}", error.what()), caller);
    }
  }
  return *static_cast<const PtxProgram*>(known.get());
}

}  // namespace

void refuse(const Machine& machine, const PtxInstruction& op) {
  stop(fmt::format("executes inline PTX that is not emulated: {}", op.text()), machine.caller);
}

std::uint64_t Machine::read(const Operand& operand) const {
  switch (operand.kind) {
    case Operand::Kind::given:
      return operand.index < given.size() ? given[operand.index] : 0;
    case Operand::Kind::local:
      return locals[operand.index];
    case Operand::Kind::number:
    case Operand::Kind::real:
      return operand.bits;
    case Operand::Kind::special:
      return special(operand.index, caller);
    default:
      return 0;
  }
}

std::uint64_t Machine::read(const Operand& operand, PtxType type) const {
  if (operand.kind == Operand::Kind::real && type.bits == 32) {
    return std::bit_cast<std::uint32_t>(float(std::bit_cast<double>(operand.bits)));
  }
  const std::uint64_t bits = read(operand);
  return type.bits >= 64 ? bits : bits & ((std::uint64_t{1} << type.bits) - 1);
}

void Machine::write(const Operand& operand, std::uint64_t bits) {
  if (operand.kind == Operand::Kind::given && operand.index < given.size()) given[operand.index] = bits;
  if (operand.kind == Operand::Kind::local) locals[operand.index] = bits;
}

std::byte* Machine::address(const Operand& operand, const PtxInstruction& op) const {
  const std::uint64_t base = read(operand.parts.at(0)) + operand.bits;
  const bool shared = op.has("shared") || op.has("shared::cta") || op.has("shared::cluster");
  return shared ? from_shared_address(std::uint32_t(base)) : reinterpret_cast<std::byte*>(base);
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

void interpret_ptx(const char* text, std::uint64_t* operands, std::size_t count) noexcept {
  const void* caller = __builtin_return_address(0);
  const ptx::PtxProgram& program = ptx::program_of(text, caller);
  std::uint64_t few[32] = {};
  const auto many = program.locals > 32 ? std::make_unique<std::uint64_t[]>(program.locals) : nullptr;
  Parts parts;
  ptx::Machine machine{{operands, count}, {many ? many.get() : few, program.locals}, caller, parts};
  const auto& instructions = program.instructions;
  for (std::size_t i = 0; i < instructions.size();) {
    const ptx::PtxInstruction& op = instructions[i++];
    if (op.guard >= 0 && (machine.locals[unsigned(op.guard)] != 0) == op.guard_negated) {
      parts.next();
      continue;
    }
    machine.jump = -1;
    op.handler(machine, op);
    parts.next();
    if (machine.jump < 0) continue;
    i = std::size_t(machine.jump);
    parts.set(machine.jump);
  }
}

}  // namespace bankwise::emulator::device
