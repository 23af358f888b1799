// SPDX-License-Identifier: MIT
#pragma once

#include <unordered_map>

#include <bankwise/banks/access.hpp>
#include "bankcheck/opencl/plugin/group_recorder.hpp"

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
};

}  // namespace bankwise::opencl
