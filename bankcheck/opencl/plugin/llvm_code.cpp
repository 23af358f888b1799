// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/plugin/llvm_code.hpp"

#include <algorithm>
#include <string_view>

#include "bankcheck/opencl/plugin/llvm_c.hpp"

namespace bankwise::opencl {
namespace {

using namespace llvm_c;

std::string_view directory_of(const void* instruction) {
  unsigned length = 0;
  const char* text = LLVMGetDebugLocDirectory(instruction, &length);
  return text == nullptr ? "" : std::string_view(text, length);
}

trace::Site site_of(const void* instruction) {
  unsigned length = 0;
  const char* text = LLVMGetDebugLocFilename(instruction, &length);
  if (text == nullptr) return {.file = "?"};
  std::string file(text, length);
  if (!file.starts_with('/') && !directory_of(instruction).empty()) {
    file = std::string(directory_of(instruction)) + '/' + file;
  }
  return {file, LLVMGetDebugLocLine(instruction), LLVMGetDebugLocColumn(instruction)};
}

/// Size of a number, or of a vector's element; 0 for any other type.
unsigned scalar_bytes(const void* type) {
  if (LLVMGetTypeKind(type) == vector_type) type = LLVMGetElementType(type);
  switch (LLVMGetTypeKind(type)) {
    case half_type:
      return 2;
    case float_type:
      return 4;
    case double_type:
      return 8;
    case integer_type:
      return LLVMGetIntTypeWidth(type) / 8;
    default:
      return 0;
  }
}

std::string_view name_of(const void* value) {
  std::size_t length = 0;
  const char* text = LLVMGetValueName2(value, &length);
  return {text, length};
}

/// memcpy(to, from) has the alignment of both operands; vloadn and vstoren have the alignment of an element, whatever
/// their width.
unsigned call_alignment(const void* call, banks::Operation operation) {
  const bool is_store = operation == banks::Operation::store;
  const std::string_view callee = name_of(LLVMGetOperand(call, unsigned(LLVMGetNumOperands(call)) - 1));
  if (callee.starts_with("llvm.mem")) {
    const unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    const void* align = LLVMGetCallSiteEnumAttribute(call, is_store ? 1 : 2, kind);
    return align == nullptr ? 1 : unsigned(LLVMGetEnumAttributeValue(align));
  }
  if (callee.find("loada_half") != std::string_view::npos || callee.find("storea_half") != std::string_view::npos)
    return 16;
  if (callee.find("_half") != std::string_view::npos) return 2;
  const unsigned bytes = scalar_bytes(LLVMTypeOf(is_store ? LLVMGetOperand(call, 0) : call));
  return bytes == 0 ? 16 : bytes;
}

unsigned alignment_of(const void* instruction, banks::Operation operation) {
  const int opcode = LLVMGetInstructionOpcode(instruction);
  if (opcode == load || opcode == store) return LLVMGetAlignment(instruction);
  const bool is_atomic = operation != banks::Operation::load && operation != banks::Operation::store;
  return opcode == call && !is_atomic ? call_alignment(instruction, operation) : 16;
}

bool is_one(const void* value) {
  return LLVMIsAConstantInt(value) != nullptr && LLVMConstIntGetZExtValue(value) == 1;
}

/// atomic_inc(p) or atomic_add(p, 1).
bool adds_one_only(const void* instruction) {
  if (LLVMGetInstructionOpcode(instruction) != call || LLVMGetFirstUse(instruction) != nullptr) return false;
  const int arguments = LLVMGetNumOperands(instruction) - 1;  // the last operand is the function
  return arguments == 1 || (arguments == 2 && is_one(LLVMGetOperand(instruction, 1)));
}

/// The blocks in the order of their function: the entry is block 0.
std::vector<const void*> blocks_of(const void* function) {
  std::vector<const void*> blocks;
  for (const void* b = LLVMGetFirstBasicBlock(function); b != nullptr; b = LLVMGetNextBasicBlock(b))
    blocks.push_back(b);
  return blocks;
}

}  // namespace

LlvmCode::Step LlvmCode::step(const void* instruction) {
  if (!available()) return Step::straight;
  switch (LLVMGetInstructionOpcode(instruction)) {
    case br:
    case switch_:
    case indirect_br:
      return Step::jump;
    case call:
      return Step::call;
    case ret:
      return Step::ret;
    default:
      return Step::straight;
  }
}

const Block& LlvmCode::block(const void* block) {
  const auto [found, is_new] = blocks_.try_emplace(block);
  if (!is_new || !available()) return found->second;
  const auto blocks = blocks_of(LLVMGetBasicBlockParent(block));
  std::unordered_map<const void*, unsigned> number;
  for (const void* b : blocks) number.emplace(b, unsigned(number.size()));
  std::vector<std::vector<unsigned>> successors(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const void* end = LLVMGetBasicBlockTerminator(blocks[i]);
    for (unsigned s = 0; s < LLVMGetNumSuccessors(end); ++s)
      successors[i].push_back(number.at(LLVMGetSuccessor(end, s)));
  }
  const auto loops = loops_in_layout(successors);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Block& one = blocks_[blocks[i]];
    for (const unsigned header : loops[i]) one.loops.push_back(blocks[header]);
    one.is_header = !loops[i].empty() && loops[i].back() == i;
  }
  return blocks_.at(block);
}

const Instruction& LlvmCode::instruction(const void* instruction, banks::Operation operation) {
  const auto [found, is_new] = instructions_.try_emplace({instruction, operation});
  if (is_new) {
    found->second = available() ? Instruction{site_of(instruction), alignment_of(instruction, operation),
                                              adds_one_only(instruction)}
                                : Instruction{{"?", 0, 0}, 16, false};
  }
  return found->second;
}

}  // namespace bankwise::opencl
