// SPDX-License-Identifier: MIT
//
// Replaces mutants.cu if there is no nvcc.
#include "mutated_study.hpp"

const void* cuda_mutant(std::string_view) {
  return nullptr;
}
