// SPDX-License-Identifier: MIT
#pragma once

namespace bankwise::opencl {

/// Sets an option of the compiler before Oclgrind builds the first program. Without it, the code of an inlined function
/// that returns a struct or has a restrict argument calls llvm.experimental.noalias.scope.decl, which Oclgrind 21.10
/// lacks. `oclgrind` is an address in Oclgrind, because the program may contain another LLVM. Nothing happens if LLVM
/// is hidden or does not have the option.
void set_llvm_options(const void* oclgrind);

}  // namespace bankwise::opencl
