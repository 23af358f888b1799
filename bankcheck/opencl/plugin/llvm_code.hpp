#pragma once

#include <array>
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

namespace bankwise::opencl {

/// Information from LLVM's representation of a kernel. Blocks and instructions are passed as pointers to LLVM's
/// objects, which are valid while the kernel runs. For use by one thread.
class LlvmCode {
 public:
  enum class Step { straight, jump, call, ret };
  static Step step(const void* instruction);

  const Block& block(const void* block);
  const Instruction& instruction(const void* instruction, banks::Operation operation);

 private:
  struct Kind {
    const void* instruction;
    banks::Operation operation;
    bool operator==(const Kind&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Kind& kind) const {
      return std::hash<const void*>()(kind.instruction) * 31 + unsigned(kind.operation);
    }
  };
  std::unordered_map<const void*, Block> blocks_;
  std::unordered_map<Kind, Instruction, Hash> instructions_;
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
