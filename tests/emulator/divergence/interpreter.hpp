// SPDX-License-Identifier: MIT
//
// Runs a program's warps in lock-step by definition: each structured statement narrows and restores a mask of active
// lanes. The arms of a branch run one after the other, in the order of the source, and their lanes reconverge after it.
// A loop runs until no lane is left in it; lanes that break wait after it, lanes that continue wait at the end of its
// body. A function returns when all its lanes have returned. The interpreter has neither a compiler nor a program
// counter, so it cannot share the emulator's errors.
#pragma once

#include <vector>

#include "language.hpp"
#include "requests.hpp"

namespace lockstep {

struct Outcome {
  std::vector<Requests> warps;
  std::vector<unsigned> output;  ///< as many words as threads
};

/// Runs one block. Errors: std::runtime_error for programs that no kernel here has: an access outside an array of 256
/// words or outside the input, a barrier inside another statement, a step without end.
Outcome interpret(const Program& program, unsigned threads, unsigned warp, const std::vector<unsigned>& input);

}  // namespace lockstep
