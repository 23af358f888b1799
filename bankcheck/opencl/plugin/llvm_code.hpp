// What the plugin knows of a kernel's code, from LLVM's representation of it.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <bankwise/banks/access.hpp>
#include "bankcheck/opencl/plugin/group_recorder.hpp"

namespace llvm {
class Value;
}
namespace oclgrind {
class Kernel;
}

// The part of LLVM's C API that the plugin calls. The process contains Oclgrind's LLVM, of any version, so the plugin
// uses no LLVM header and links no LLVM. The functions are weak symbols, which are null if Oclgrind hides its LLVM.
// LLVM keeps its C API stable; the enumerators have the values of llvm-c/Core.h.
extern "C" {
#define LLVM_C __attribute__((weak))
LLVM_C int LLVMGetInstructionOpcode(const void* instruction);
LLVM_C const void* LLVMGetInstructionParent(const void* instruction);
LLVM_C const char* LLVMGetDebugLocDirectory(const void* instruction, unsigned* length);
LLVM_C const char* LLVMGetDebugLocFilename(const void* instruction, unsigned* length);
LLVM_C unsigned LLVMGetDebugLocLine(const void* instruction);
LLVM_C unsigned LLVMGetDebugLocColumn(const void* instruction);
LLVM_C unsigned LLVMGetAlignment(const void* load_or_store);

LLVM_C const void* LLVMGetBasicBlockParent(const void* block);
LLVM_C const void* LLVMGetFirstBasicBlock(const void* function);
LLVM_C const void* LLVMGetNextBasicBlock(const void* block);
LLVM_C const void* LLVMGetBasicBlockTerminator(const void* block);
LLVM_C unsigned LLVMGetNumSuccessors(const void* terminator);
LLVM_C const void* LLVMGetSuccessor(const void* terminator, unsigned number);

LLVM_C unsigned LLVMCountParams(const void* function);
LLVM_C const void* LLVMGetParam(const void* function, unsigned number);
LLVM_C const char* LLVMGetValueName2(const void* value, std::size_t* length);
LLVM_C const void* LLVMGetFirstUse(const void* value);
LLVM_C const void* LLVMGetOperand(const void* user, unsigned number);
LLVM_C int LLVMGetNumOperands(const void* user);
LLVM_C const void* LLVMIsAConstantInt(const void* value);
LLVM_C unsigned long long LLVMConstIntGetZExtValue(const void* constant);

LLVM_C const void* LLVMTypeOf(const void* value);
LLVM_C int LLVMGetTypeKind(const void* type);
LLVM_C const void* LLVMGetElementType(const void* type);
LLVM_C unsigned LLVMGetArrayLength(const void* type);
LLVM_C const void* LLVMIsAGlobalVariable(const void* value);
LLVM_C const void* LLVMGlobalGetValueType(const void* variable);
LLVM_C unsigned LLVMGetIntTypeWidth(const void* type);
LLVM_C unsigned LLVMGetPointerAddressSpace(const void* type);

LLVM_C unsigned LLVMGetEnumAttributeKindForName(const char* name, std::size_t length);
LLVM_C const void* LLVMGetCallSiteEnumAttribute(const void* call, unsigned index, unsigned kind);
LLVM_C unsigned long long LLVMGetEnumAttributeValue(const void* attribute);
LLVM_C void LLVMRemoveEnumAttributeAtIndex(void* function, unsigned index, unsigned kind);
LLVM_C const void* LLVMGetStringAttributeAtIndex(const void* function, unsigned index, const char* name,
                                                 unsigned length);
LLVM_C void* LLVMCreateStringAttribute(void* context, const char* name, unsigned length, const char* value,
                                       unsigned value_length);
LLVM_C void LLVMAddAttributeAtIndex(void* function, unsigned index, void* attribute);

LLVM_C void* LLVMGetGlobalParent(const void* function);
LLVM_C void* LLVMGetModuleContext(void* module);
LLVM_C void* LLVMGetFirstFunction(void* module);
LLVM_C void* LLVMGetNextFunction(void* function);
LLVM_C void* LLVMCreatePassBuilderOptions();
LLVM_C void LLVMDisposePassBuilderOptions(void* options);
LLVM_C void* LLVMRunPasses(void* module, const char* passes, void* target, void* options);
LLVM_C void LLVMConsumeError(void* error);
#undef LLVM_C
}

namespace bankwise::opencl::llvm_c {

enum Opcode { ret = 1, br = 2, switch_ = 3, indirect_br = 4, load = 27, store = 28, call = 45 };
enum TypeKind {
  half_type = 1,
  float_type = 2,
  double_type = 3,
  integer_type = 8,
  array_type = 11,
  pointer_type = 12,
  vector_type = 13
};

inline constexpr unsigned global_space = 1;      // as Clang numbers OpenCL's address spaces for Oclgrind
inline constexpr unsigned function_index = ~0U;  // for a function's own attributes

inline bool available() { return LLVMGetInstructionOpcode != nullptr && LLVMGetEnumAttributeValue != nullptr; }

}  // namespace bankwise::opencl::llvm_c

namespace bankwise::opencl {

/// Information from LLVM's representation of a kernel. Blocks and instructions are passed as pointers to LLVM's
/// objects, which are valid while the kernel runs. For use by one thread.
class LlvmCode {
 public:
  enum class Step { straight, jump, call_or_return };
  static Step step(const void* instruction);

  const Block& block(const void* block);
  const Instruction& instruction(const void* instruction, banks::Operation operation);

 private:
  using Kind = std::pair<const void*, banks::Operation>;  ///< of an instruction
  std::unordered_map<const void*, Block> blocks_;
  std::map<Kind, Instruction> instructions_;
  std::array<std::pair<Kind, const Instruction*>, 64> recent_{};  ///< of instructions_, each at its hash
};

/// A kernel's argument or variable in local memory.
struct LocalValue {
  std::string name;
  const llvm::Value* value;
  std::size_t bytes;
  std::vector<std::uint32_t> lengths;  ///< of a variable's dimensions; empty: unknown
};

/// The kernel's local arrays, sorted by name: Oclgrind sorts them by pointer, which differs from run to run.
std::vector<LocalValue> local_values(const ::oclgrind::Kernel& kernel);

// What LLVM does to kernels before they run.

/// Sets an option of the compiler before Oclgrind builds the first program. Without it, the code of an inlined function
/// that returns a struct or has a restrict argument calls llvm.experimental.noalias.scope.decl, which Oclgrind 21.10
/// lacks. `oclgrind` is an address in Oclgrind, because the program may contain another LLVM. Nothing happens if LLVM
/// is hidden or does not have the option.
void set_llvm_options(const void* oclgrind);

/// Puts the variables of a kernel's program into registers. Without optimization every use of a variable is a load or
/// store, and Oclgrind takes almost twice as long. Accesses to other memory, source lines and branches stay as they
/// are. Nothing happens where LLVM is hidden or older than 13. No kernel of the program may be running.
void put_variables_into_registers(const ::oclgrind::Kernel& kernel);

}  // namespace bankwise::opencl
