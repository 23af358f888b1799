// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/plugin/registers.hpp"

#include <memory>
#include <string_view>

#include "bankcheck/opencl/plugin/llvm_c.hpp"
#include "oclgrind/Kernel.h"
#include "oclgrind/Program.h"
#include "oclgrind/WorkItem.h"

namespace bankwise::opencl {
namespace {

using namespace llvm_c;

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

}  // namespace bankwise::opencl
