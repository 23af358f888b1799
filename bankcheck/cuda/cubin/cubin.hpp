// What a cubin, the machine code of a CUDA module, says about its instructions. Cubins come from programs of other
// people, so every offset and count in them is checked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bankcheck/cuda/cubin/elf.hpp"

namespace bankwise::cuda {

/// The 128 bits of an instruction.
struct InstructionBits {
  std::uint64_t low = 0, high = 0;
};

class Cubin {
 public:
  /// Throws std::runtime_error with one sentence if the bytes are no cubin, or contradict themselves. A damaged table
  /// of lines is no reason to throw: line_error() has the sentence then.
  explicit Cubin(std::string bytes);
  Cubin(Cubin&&) = default;
  Cubin& operator=(Cubin&&) = default;

  /// Compute capability without its dot: 90 for 9.0.
  unsigned sm() const { return elf_.sm; }

  struct Function {
    std::string name;  // mangled
    std::uint64_t bytes = 0;
  };
  /// Kernels and device functions that were not inlined, in the order of the table of symbols.
  std::vector<Function> functions() const;

  /// Where the instruction at `pc_offset` bytes from the function's first one comes from, innermost first: a line, and
  /// the line of each call around it that was inlined. Empty if the function or the lines are missing.
  std::vector<SourceFrame> source_of(const std::string& function, std::uint64_t pc_offset) const;

  /// Why the cubin has no lines though it has a table of them; empty if that is not so.
  const std::string& line_error() const { return line_error_; }

  /// The instruction at `pc_offset` bytes from the function's first one, as shared_opcode() gives it; nothing if it is
  /// past the end, or unknown to shared_opcode().
  std::optional<std::string> opcode_at(const std::string& function, std::uint64_t pc_offset) const;

  /// Of the same instruction, what wgmma_bytes() gives.
  std::uint64_t wgmma_bytes_at(const std::string& function, std::uint64_t pc_offset) const;

  struct SharedArray {
    std::string name;          // mangled
    std::uint32_t offset = 0;  // bytes from the start of the block's shared memory, as the cubin lays it out
    std::uint32_t bytes = 0;   // 0: dynamic, as many as the launch gives
  };
  /// The __shared__ arrays of a kernel, by offset: the static ones, then, if its place is known, one for all dynamic
  /// shared memory. Cubins of debug builds (nvcc -G) have symbols for them, those with source lines (-lineinfo) their
  /// PTX; others have none here. For sm_80 and newer, offsets usually begin at 1024, after the bytes that CUDA keeps
  /// for itself.
  std::vector<SharedArray> shared_arrays(const std::string& function) const;

 private:
  /// nullptr if the cubin has no such function.
  const Symbol* symbol_of(const std::string& function) const;
  /// All 0 if there is no such instruction.
  InstructionBits bits_at(const std::string& function, std::uint64_t pc_offset) const;

  std::string bytes_;  // too long to be in the object itself, so views into them stay valid when it moves
  Elf elf_;
  LineTable lines_;
  std::string line_error_;
  std::vector<const Symbol*> functions_;
  std::unordered_map<std::string_view, const Symbol*> by_name_;
};

/// The instructions of a source line that access shared memory, and how often each stands in the code.
struct EmittedLine {
  std::string file;  // as the compiler was given it
  unsigned line = 0;
  std::map<std::string, std::uint64_t> opcodes;  // "LDS.128"
};

/// The lines with an LDS, STS or ATOMS in any function, sorted. Code of inlined functions counts for their own
/// lines. Instructions without a line are left out.
std::vector<EmittedLine> emitted_in(const Cubin& cubin);

/// "LDS.128" or "ATOMS.POPC.INC.32": an instruction that can access shared memory, and its modifiers, as nvdisasm has
/// them. `sm` is the compute capability without its dot, from 75 to 121. Nothing for other instructions and
/// architectures, and for modifiers that are not known.
std::optional<std::string> shared_opcode(unsigned sm, InstructionBits bits);

/// Bytes of shared memory that a `wgmma` of floating-point numbers reads: B, and A unless it is in registers. 0 for
/// other instructions and architectures.
std::uint64_t wgmma_bytes(unsigned sm, InstructionBits bits);

/// The name as it is written in C++, without return type, parameters and anonymous namespaces, and at most `max_width`
/// bytes long (at least 8). As far as it takes to fit, template arguments become "...", the deepest first; then all
/// namespaces but the first do; then the end is cut off, which "..." shows:
///   cub::CUB_300001_SM_900::detail::reduce::DeviceReduceKernel<...>  ->  cub::...::DeviceReduceKernel<...>
/// A long name has "..." for all its template arguments from the start. What no C++ compiler mangled is only cut.
std::string demangled(std::string_view mangled, std::size_t max_width = 80);

/// The name of an array, without the kernel that declares it: "_ZZ1kPfE4tile" -> "tile". Others as demangled() has
/// them.
std::string array_name(std::string_view mangled);

/// The namespaces and the name of a function mangled by the Itanium C++ ABI, "cub::detail::Kernel<...>", without its
/// arguments and parameters, in time proportional to the length: each reference of a complete demangler may double what
/// it writes. Nothing for operators, constructors, names inside of functions, and what is no such name.
std::optional<std::string> mangled_path(std::string_view mangled);

}  // namespace bankwise::cuda
