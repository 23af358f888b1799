// SPDX-License-Identifier: MIT
//
// What LLVM does to kernels before they run.
#pragma once

namespace oclgrind {
class Kernel;
}

namespace bankwise::opencl {

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
