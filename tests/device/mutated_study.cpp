// SPDX-License-Identifier: MIT
#include "mutated_study.hpp"

#include "tests/case_studies.hpp"

namespace {

const bankwise::CaseStudy& study_of(const Mutation& mutation) {
  const auto folder = mutation.file.substr(0, mutation.file.find('/'));
  for (const bankwise::CaseStudy* study : all_case_studies) {
    if (study->name == folder) return *study;
  }
  throw std::invalid_argument("no case study has the file " + std::string(mutation.file));
}

}  // namespace

MutatedStudy::MutatedStudy(std::string_view name) : sound_(&study_of(mutation(name))), study_(*sound_) {
  const Mutation& wanted = mutation(name);
  variant_ = &variant_of(study_, wanted.kernel.substr(study_.kernel_prefix.size()));
  images_.assign(study_.kernels->images.begin(), study_.kernels->images.end());
  for (auto& image : images_) {
    if (image.name != wanted.kernel) continue;
    if (wanted.file.ends_with(".cl")) {
      source_ = mutate(std::string(image.opencl_source), wanted);
      image.opencl_source = source_;
    } else {
      image.cuda = cuda_mutant(name);
    }
  }
  kernels_ = {images_, nullptr};
  study_.kernels = &kernels_;
}
