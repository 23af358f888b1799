// SPDX-License-Identifier: MIT
//
// Replaces mutants.cu where the tests for NVIDIA GPUs are not built.
#include "mutated_study.hpp"

const void* cuda_mutant(std::string_view) {
  return nullptr;
}
