// SPDX-License-Identifier: MIT
//
// What a cubin, the machine code of a CUDA module, says about its instructions. Cubins come from programs of other
// people, so every offset and count in them is checked.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bankwise::cuda {

class Cubin {
 public:
  /// Throws std::runtime_error with one sentence if the bytes are no cubin, or contradict themselves. A damaged table
  /// of lines is no reason to throw: line_error() has the sentence then.
  explicit Cubin(std::vector<char> bytes);

  /// Compute capability without its dot: 90 for 9.0.
  unsigned sm() const;

  struct Function {
    std::string name;  // mangled
    std::uint64_t bytes = 0;
  };
  /// Kernels and device functions that were not inlined, in the order of the table of symbols.
  std::vector<Function> functions() const;

  struct Frame {
    std::string file;      // with its directory, as the compiler was given it
    unsigned line = 0;     // from 1; 0 for code that is from no line
    std::string function;  // mangled
  };
  /// Where the instruction at `pc_offset` bytes from the function's first one comes from, innermost first: a line, and
  /// the line of each call around it that was inlined. Empty if the function or the lines are missing.
  std::vector<Frame> source_of(const std::string& function, std::uint64_t pc_offset) const;

  /// Why the cubin has no lines though it has a table of them; empty if that is not so.
  const std::string& line_error() const;

  struct Instruction {
    std::string opcode;  // as shared_opcode() gives it
  };
  /// The instruction at `pc_offset` bytes from the function's first one; nothing if it is past the end, or unknown to
  /// shared_opcode().
  std::optional<Instruction> instruction_at(const std::string& function, std::uint64_t pc_offset) const;

  struct SharedArray {
    std::string name;          // mangled
    std::uint32_t offset = 0;  // bytes from the start of the block's shared memory, as the cubin lays it out
    std::uint32_t bytes = 0;
  };
  /// The static __shared__ arrays of a kernel, by offset. Only cubins of debug builds (nvcc -G) name them; others have
  /// none here. For sm_80 and newer, offsets usually begin at 1024, after the bytes that CUDA keeps for itself.
  std::vector<SharedArray> shared_arrays(const std::string& function) const;

 private:
  struct Content;
  std::shared_ptr<const Content> content_;  // shared by copies: views into the bytes stay valid
};

// What a compiler made of a source line: its instructions on shared memory.

/// The instructions of a source line that access shared memory, and how often each stands in the code.
struct EmittedLine {
  std::string file;  // as the compiler was given it
  unsigned line = 0;
  std::map<std::string, std::uint64_t> opcodes;  // "LDS.128"
};

/// The lines with an LDS, STS or ATOMS in any function, sorted. Code of inlined functions counts for their own
/// lines. Instructions without a line are left out.
std::vector<EmittedLine> emitted_in(const Cubin& cubin);

}  // namespace bankwise::cuda
