// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <bankwise/trace/trace.hpp>

namespace bankwise::opencl {

/// A basic block: the headers of the loops that it lies in, the outermost first; see LanePath::enter_block().
struct Block {
  std::vector<const void*> loops;
  bool is_header = false;
};

/// An instruction that accesses memory.
struct Instruction {
  trace::Site site;
  unsigned alignment = 16;     ///< bytes, that the compiler may count on
  bool adds_one_only = false;  ///< an atomic that adds the constant 1, and whose result nobody uses
};

}  // namespace bankwise::opencl
