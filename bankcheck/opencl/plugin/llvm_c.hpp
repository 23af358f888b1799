// The part of LLVM's C API that the plugin calls. The process contains Oclgrind's LLVM, of any version, so the plugin
// uses no LLVM header and links no LLVM. The functions are weak symbols, which are null if Oclgrind hides its LLVM.
// LLVM keeps its C API stable; the enumerators have the values of llvm-c/Core.h.
#pragma once

#include <cstddef>

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
