// SPDX-License-Identifier: MIT
//
// The counterpart of fill.cuh, and helpers that the programs share.
#pragma once

#include <string>
#include <vector>

#include "language.hpp"

namespace lockstep {

inline constexpr unsigned words = 256;
inline const Variable i{"i"}, j{"j"}, k{"k"}, sum{"sum"}, value{"value"};
inline const Expression t = thread();

inline Expression own(const Expression& row) { return row % 4 * 64 + t; }

/// Fills the arrays and waits for all.
inline Statement fill_shared(const Array& array) {
  return loop_for(set(i, t), i < words, i += block_size(), {set(array[i], input(i))});
}

/// A kernel that begins by filling its arrays.
inline Program filled(const std::vector<Array>& arrays, const Block& body) {
  Program program;
  for (const Array& array : arrays) program.body.push_back(fill_shared(array));
  program.body.push_back(barrier());
  program.body.insert(program.body.end(), body.begin(), body.end());
  return program;
}

}  // namespace lockstep
