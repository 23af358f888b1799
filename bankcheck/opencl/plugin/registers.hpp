// SPDX-License-Identifier: MIT
#pragma once

namespace oclgrind {
class Kernel;
}

namespace bankwise::opencl {

/// Puts the variables of a kernel's program into registers. Without optimization every use of a variable is a load or
/// store, and Oclgrind takes almost twice as long. Accesses to other memory, source lines and branches stay as they
/// are. Nothing happens where LLVM is hidden or older than 13. No kernel of the program may be running.
void put_variables_into_registers(const ::oclgrind::Kernel& kernel);

}  // namespace bankwise::opencl
