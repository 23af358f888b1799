// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <bankwise/trace/trace.hpp>

namespace bankwise::opencl {

/// A basic block: the headers of the loops that contain it, the outermost first; see LanePath::enter_block().
struct Block {
  std::vector<const void*> loops;
  bool is_header = false;
};

/// An instruction that accesses memory.
struct Instruction {
  trace::Site site;
  unsigned alignment = 16;     ///< in bytes, as known to the compiler
  bool adds_one_only = false;  ///< an atomic that adds the constant 1 and whose result is unused
};

}  // namespace bankwise::opencl
