#include "mutated_study.hpp"

#include "tests/case_studies.hpp"
#include "tests/catch_any.hpp"

#if HAVE_CUDA_MUTANTS
const void* cuda_mutant(std::string_view mutation);  // made by CMake: the __global__ function of a mutation of a .cuh
#else
static const void* cuda_mutant(std::string_view) { return nullptr; }
#endif

MutatedStudy::MutatedStudy(std::string_view name) {
  for (const bankwise::study::CaseStudy* study : all_case_studies) {
    for (const Mutation& mutation : mutations_in(folder_of(*study))) {
      if (mutation.name != name) continue;
      sound_ = study;
      study_ = *study;
      variant_ = &variant_of(*study, mutation.file.stem().string());
      images_.assign(study->kernels->images.begin(), study->kernels->images.end());
      const std::string kernel = std::string(study->kernel_prefix) + mutation.file.stem().string();
      auto& image = *std::ranges::find(images_, kernel, &bankwise::gpu::KernelImage::name);
      if (mutation.file.extension() == ".cl") {
        source_ = mutate(std::string(image.opencl_source), mutation);
        image.opencl_source = source_;
      } else {
        image.cuda = cuda_mutant(name);
      }
    }
  }
  if (sound_ == nullptr) throw std::invalid_argument("no mutation " + std::string(name));
  kernels_ = {images_, nullptr};
  study_.kernels = &kernels_;
}

std::vector<std::string> survived_mutations(bankwise::gpu::Api api) {
  const char* const extension = api == bankwise::gpu::Api::cuda ? ".cuh" : ".cl";
  std::vector<std::string> names;
  for (const bankwise::study::CaseStudy* study : all_case_studies) {
    for (const Mutation& mutation : mutations_in(folder_of(*study))) {
      if (mutation.is_survived && mutation.file.extension() == extension) names.push_back(mutation.name);
    }
  }
  REQUIRE(!names.empty());  // a test without one would check nothing
  return names;
}
