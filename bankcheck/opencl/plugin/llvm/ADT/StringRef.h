// Replaces LLVM's header of this name, the only one that oclgrind/Kernel.h includes. The plugin is built without LLVM's
// headers, because their version would have to match the installed Oclgrind. The members, and so the ABI, are the same.
#pragma once

#include <cstddef>

namespace llvm {

class StringRef {
 public:
  const char* data;
  std::size_t length;
};

}  // namespace llvm
