#include "bankcheck/opencl/plugin/llvm_code.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string_view>

#include "oclgrind/Kernel.h"
#include "oclgrind/Program.h"
#include "oclgrind/WorkItem.h"

namespace bankwise::opencl {
namespace {

using namespace llvm_c;

/// A text of LLVM's, from a function that tells its length; empty if there is none.
template <class Length>
std::string_view text_from(const char* (*function)(const void*, Length*), const void* value) {
  Length length = 0;
  const char* text = function(value, &length);
  return text == nullptr ? "" : std::string_view(text, length);
}

trace::Site site_of(const void* instruction) {
  std::string file(text_from(LLVMGetDebugLocFilename, instruction));
  if (file.empty()) return {.file = "?"};
  const std::string_view directory = text_from(LLVMGetDebugLocDirectory, instruction);
  if (!file.starts_with('/') && !directory.empty()) file = std::string(directory) + '/' + file;
  return {file, LLVMGetDebugLocLine(instruction), LLVMGetDebugLocColumn(instruction)};
}

/// Size of a number, or of a vector's element; 0 for any other type.
unsigned scalar_bytes(const void* type) {
  if (LLVMGetTypeKind(type) == vector_type) type = LLVMGetElementType(type);
  switch (LLVMGetTypeKind(type)) {
    case half_type: return 2;
    case float_type: return 4;
    case double_type: return 8;
    case integer_type: return LLVMGetIntTypeWidth(type) / 8;
    default: return 0;
  }
}

/// The dimensions of a variable.
std::vector<std::uint32_t> lengths_of(const void* value) {
  std::vector<std::uint32_t> lengths;
  if (!available() || LLVMGlobalGetValueType == nullptr || LLVMIsAGlobalVariable(value) == nullptr) return lengths;
  for (const void* type = LLVMGlobalGetValueType(value); LLVMGetTypeKind(type) == array_type;
       type = LLVMGetElementType(type)) {
    lengths.push_back(LLVMGetArrayLength(type));
  }
  return lengths;
}

std::string_view callee_of(const void* call) {
  return text_from(LLVMGetValueName2, LLVMGetOperand(call, unsigned(LLVMGetNumOperands(call)) - 1));
}

/// memcpy(to, from) has the alignment of both operands; vloadn and vstoren have the alignment of an element, whatever
/// their width.
unsigned call_alignment(const void* call, banks::Operation operation) {
  const bool is_store = operation == banks::Operation::store;
  const std::string_view callee = callee_of(call);
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

bool is_global_pointer(const void* value) {
  const void* type = LLVMTypeOf(value);
  return LLVMGetTypeKind(type) == pointer_type && LLVMGetPointerAddressSpace(type) == global_space;
}

/// Oclgrind's global memory also holds constant memory and images. Of all functions only memcpy has two pointers.
bool accesses_global(const void* instruction, banks::Operation operation) {
  const bool is_store = operation == banks::Operation::store;
  const int opcode = LLVMGetInstructionOpcode(instruction);
  if (opcode == load || opcode == store) return is_global_pointer(LLVMGetOperand(instruction, is_store ? 1 : 0));
  if (opcode != call) return true;
  const std::string_view callee = callee_of(instruction);
  if (callee.starts_with("llvm.mem")) return is_global_pointer(LLVMGetOperand(instruction, is_store ? 0 : 1));
  if (callee.find("_image") != std::string_view::npos) return false;
  for (int i = 0; i + 1 < LLVMGetNumOperands(instruction); ++i) {
    if (is_global_pointer(LLVMGetOperand(instruction, unsigned(i)))) return true;
  }
  return false;
}

bool is_one(const void* value) { return LLVMIsAConstantInt(value) != nullptr && LLVMConstIntGetZExtValue(value) == 1; }

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

// Marks in the code itself: the address of a program that is released may become that of another one.
constexpr std::string_view promoted = "bankwise-promoted", refreshed = "bankwise-refreshed";

/// Sets a mark; false if the function has it.
bool set_mark(void* function, std::string_view mark) {
  if (LLVMGetStringAttributeAtIndex(function, function_index, mark.data(), unsigned(mark.size())) != nullptr) {
    return false;
  }
  void* context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMAddAttributeAtIndex(function, function_index,
                          LLVMCreateStringAttribute(context, mark.data(), unsigned(mark.size()), "", 0));
  return true;
}

void promote(void* module) {
  const unsigned unoptimized = LLVMGetEnumAttributeKindForName("optnone", 7);
  for (void* function = LLVMGetFirstFunction(module); function != nullptr; function = LLVMGetNextFunction(function)) {
    set_mark(function, promoted);
    LLVMRemoveEnumAttributeAtIndex(function, function_index, unoptimized);
  }
  void* options = LLVMCreatePassBuilderOptions();
  if (void* error = LLVMRunPasses(module, "mem2reg", nullptr, options)) LLVMConsumeError(error);
  LLVMDisposePassBuilderOptions(options);
}

}  // namespace

LlvmCode::Step LlvmCode::step(const void* instruction) {
  if (!available()) return Step::straight;
  switch (LLVMGetInstructionOpcode(instruction)) {
    case br:
    case switch_:
    case indirect_br: return Step::jump;
    case call:
    case ret: return Step::call_or_return;
    default: return Step::straight;
  }
}

const Block& LlvmCode::block(const void* block) {
  const auto [known, is_new] = blocks_.try_emplace(block);
  if (!is_new || !available()) return known->second;
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
    Block& known_block = blocks_[blocks[i]];
    for (const unsigned header : loops[i]) known_block.loops.push_back(blocks[header]);
    known_block.is_header = !loops[i].empty() && loops[i].back() == i;
  }
  return blocks_.at(block);
}

const Instruction& LlvmCode::instruction(const void* instruction, banks::Operation operation) {
  const Kind kind{instruction, operation};
  auto& [recent, found] = recent_[(reinterpret_cast<std::uintptr_t>(instruction) / 16 + unsigned(operation)) % 64];
  if (recent == kind && found != nullptr) return *found;
  const auto [known, is_new] = instructions_.try_emplace(kind);
  if (is_new) {
    known->second = available() ? Instruction{site_of(instruction), alignment_of(instruction, operation),
                                              adds_one_only(instruction), accesses_global(instruction, operation)}
                                : Instruction{{"?", 0, 0}, 16, false};
  }
  recent = kind, found = &known->second;
  return known->second;
}

std::vector<LocalValue> local_values(const ::oclgrind::Kernel& kernel) {
  std::vector<LocalValue> locals;
  const std::string prefix = kernel.getName() + ".";
  const void* function = kernel.getFunction();
  for (auto value = kernel.values_begin(); value != kernel.values_end(); ++value) {
    std::string name;
    if (available()) {
      name = text_from(LLVMGetValueName2, value->first);
      if (name.starts_with(prefix)) name.erase(0, prefix.size());
      for (unsigned i = 0; i < LLVMCountParams(function); ++i) {
        if (LLVMGetParam(function, i) != value->first) continue;
        const auto written = kernel.getArgumentName(i);
        name = written.length > 0 ? std::string(written.data, written.length) : "argument " + std::to_string(i);
      }
    }
    locals.push_back({name.empty() ? "?" : name, value->first, value->second.size, lengths_of(value->first)});
  }
  std::sort(locals.begin(), locals.end(), [](auto& a, auto& b) { return a.name < b.name; });
  return locals;
}

void put_variables_into_registers(const ::oclgrind::Kernel& kernel) {
  if (!available() || LLVMRunPasses == nullptr) return;
  // NOLINTBEGIN(cppcoreguidelines-pro-type-const-cast): Oclgrind has no other way to change a kernel
  auto* const function = const_cast<llvm::Function*>(kernel.getFunction());
  if (set_mark(function, promoted)) promote(LLVMGetGlobalParent(function));
  if (!set_mark(function, refreshed)) return;
  // Oclgrind has numbered the kernel's instructions when it created the kernel.
  auto* const cache = const_cast<::oclgrind::InterpreterCache*>(kernel.getProgram()->getInterpreterCache(function));
  // NOLINTEND(cppcoreguidelines-pro-type-const-cast)
  std::destroy_at(cache);
  std::construct_at(cache, function);
}

void set_llvm_options(const void* oclgrind) {
  static std::atomic<bool> done = false;  // LLVM accepts the option once
  Dl_info about;
  if (done.exchange(true) || dladdr(oclgrind, &about) == 0) return;
  void* library = dlopen(about.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return;
  using Parse = void (*)(int, const char* const*, const char*);  // as in llvm-c/Support.h
  const char* const options[] = {"bankcheck", "-enable-noalias-to-md-conversion=false"};
  if (const auto parse = reinterpret_cast<Parse>(dlsym(library, "LLVMParseCommandLineOptions"))) parse(2, options, "");
  dlclose(library);
}

}  // namespace bankwise::opencl
