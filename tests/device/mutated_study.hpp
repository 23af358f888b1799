// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <bankwise/study/case_study.hpp>
#include "tests/case_studies/mutations.hpp"

/// The __global__ function that the build compiled from a mutation of a .cuh (mutants.cu); null if there is none.
const void* cuda_mutant(std::string_view mutation);

/// A case study with one kernel replaced by its mutation, for the API of the mutated file.
class MutatedStudy {
 public:
  explicit MutatedStudy(std::string_view name);  ///< of the mutation
  MutatedStudy(const MutatedStudy&) = delete;
  MutatedStudy& operator=(const MutatedStudy&) = delete;

  const bankwise::CaseStudy& study() const { return study_; }
  const bankwise::CaseStudy& sound() const { return *sound_; }
  /// The variant with the mutated kernel, in either study.
  const bankwise::Variant& variant() const { return *variant_; }

 private:
  const bankwise::CaseStudy* sound_;
  bankwise::CaseStudy study_;
  const bankwise::Variant* variant_;
  std::vector<bankwise::gpu::KernelImage> images_;
  std::string source_;
  bankwise::gpu::KernelSet kernels_;
};
