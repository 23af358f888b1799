// SPDX-License-Identifier: MIT
//
// Stands in for LLVM's header of this name, the only one that oclgrind/Kernel.h includes: the plugin is built without
// LLVM's headers, whose version would have to be that of the Oclgrind at hand. Same members, so the same ABI.
#pragma once

#include <cstddef>

namespace llvm {

class StringRef {
 public:
  const char* data;
  std::size_t length;
};

}  // namespace llvm
