#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <bankwise/gpu/device.hpp>
#include <bankwise/study/case_study.hpp>
#include "tests/case_studies/mutations.hpp"

/// A case study with one kernel replaced by its mutation, for the API of the mutated file.
class MutatedStudy {
 public:
  /// The mutation's name. Error: std::invalid_argument if no case study has one of this name.
  explicit MutatedStudy(std::string_view name);
  MutatedStudy(const MutatedStudy&) = delete;
  MutatedStudy& operator=(const MutatedStudy&) = delete;

  const bankwise::study::CaseStudy& study() const { return study_; }
  const bankwise::study::CaseStudy& sound() const { return *sound_; }
  /// The variant with the mutated kernel, in either study.
  const bankwise::study::Variant& variant() const { return *variant_; }

 private:
  const bankwise::study::CaseStudy* sound_ = nullptr;
  bankwise::study::CaseStudy study_;
  const bankwise::study::Variant* variant_ = nullptr;
  std::vector<bankwise::gpu::KernelImage> images_;
  std::string source_;
  bankwise::gpu::KernelSet kernels_;
};

/// The mutations of kernels for an API that are adverse conditions and not errors.
std::vector<std::string> survived_mutations(bankwise::gpu::Api api);
