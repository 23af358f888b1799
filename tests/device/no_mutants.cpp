// SPDX-License-Identifier: MIT
//
// In place of mutants.cu, where there is no nvcc.
#include "mutated_study.hpp"

const void* cuda_mutant(std::string_view) {
  return nullptr;
}
