// SPDX-License-Identifier: MIT
//
// Runs a program's warps in lock-step by the book: a mask of active lanes that each structured statement narrows and
// restores. The arms of a branch run one after the other, in the order of the source, and their lanes join behind it. A
// loop runs until no lane is left in it; lanes that broke out wait behind it, lanes that continue wait at the end of its
// body. A function returns when all its lanes have returned. It has neither a compiler nor a program counter, so it
// cannot be wrong in the way that the emulator can.
#pragma once

#include <vector>

#include "language.hpp"
#include "requests.hpp"

namespace lockstep {

struct Outcome {
  std::vector<Requests> warps;
  std::vector<unsigned> output;  ///< as many words as threads
};

/// One block. Errors: std::runtime_error for what no kernel here does: an access outside an array of 256 words or outside
/// the input, a barrier inside of another statement, a step without end.
Outcome interpret(const Program& program, unsigned threads, unsigned warp, const std::vector<unsigned>& input);

}  // namespace lockstep
