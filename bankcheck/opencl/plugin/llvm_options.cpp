// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/plugin/llvm_options.hpp"

#include <dlfcn.h>

#include <atomic>

namespace bankwise::opencl {

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
