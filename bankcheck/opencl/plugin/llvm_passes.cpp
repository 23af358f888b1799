// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/plugin/llvm_passes.hpp"

#include <dlfcn.h>

#include <atomic>
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
