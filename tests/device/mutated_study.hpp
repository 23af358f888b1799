// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <bankwise/study/case_study.hpp>
#include "tests/case_studies/mutations.hpp"

/// The __global__ function that the build has made of a mutation of a .cuh (mutants.cu); null if it has made none.
const void* cuda_mutant(std::string_view mutation);

/// A case study with one kernel replaced by its mutation, for the API whose file the mutation is about.
class MutatedStudy {
 public:
  explicit MutatedStudy(std::string_view name);  ///< of the mutation
  MutatedStudy(const MutatedStudy&) = delete;
  MutatedStudy& operator=(const MutatedStudy&) = delete;

  const bankwise::CaseStudy& study() const { return study_; }
  const bankwise::CaseStudy& sound() const { return *sound_; }
  /// The one whose kernel is mutated, in either study.
  const bankwise::Variant& variant() const { return *variant_; }

 private:
  const bankwise::CaseStudy* sound_;
  bankwise::CaseStudy study_;
  const bankwise::Variant* variant_;
  std::vector<bankwise::gpu::KernelImage> images_;
  std::string source_;
  bankwise::gpu::KernelSet kernels_;
};
