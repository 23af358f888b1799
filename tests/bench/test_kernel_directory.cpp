// SPDX-License-Identifier: MIT
//
// Kernels from a directory: the requirements in their files apply as for kernels in the program.
#include <filesystem>
#include <fstream>

#include <bankwise/bench/kernel_directory.hpp>
#include <bankwise/support/exit_code.hpp>
#include "tests/case_studies.hpp"
#include "tests/programs.hpp"

using namespace bankwise;
namespace fs = std::filesystem;

namespace {

/// The .cl files of a case study in a separate directory.
struct Copies {
  explicit Copies(const CaseStudy& study) {
    for (const auto& entry : fs::directory_iterator(fs::path(SOURCE_DIRECTORY) / folder_of(study))) {
      if (entry.path().extension() == ".cl") fs::copy(entry, scratch.path());
    }
  }
  void prepend(const std::string& file, const std::string& line) const {
    const std::string text = text_of(scratch.path() / file);
    std::ofstream(scratch.path() / file) << "//\n" << line << '\n' << text;
  }
  ScratchDirectory scratch;
};

}  // namespace

TEST_CASE("bench/kernel_directory/requirements") {
  const CaseStudy& study = reduction::case_study();
  const Copies copies(study);
  copies.prepend("packed.cl", "// Needs: compute capability 8.6");
  copies.prepend("shuffle.cl", "// No CUDA counterpart: it is new");
  const KernelDirectory directory(study, copies.scratch.path().string());
  CHECK(find_image(directory.study(), "reduce_packed")->opencl_capability == 86);
  CHECK(find_image(directory.study(), "reduce_modulo")->opencl_capability == 0);
  CHECK(find_image(directory.study(), "reduce_shuffle")->why_not_ported == "it is new");
  CHECK(find_image(directory.study(), "reduce_modulo")->why_not_ported.empty());
}

TEST_CASE("bench/kernel_directory/yields_kernels") {
  for (const CaseStudy* study : all_case_studies) {
    const Copies copies(*study);
    const KernelDirectory directory(*study, copies.scratch.path().string());
    for (const gpu::KernelImage& image : study->kernels->images) {
      INFO(image.name);
      const gpu::KernelImage* read = find_image(directory.study(), image.name);
      REQUIRE(read != nullptr);
      CHECK(read->opencl_source == image.opencl_source);
      CHECK(read->opencl_capability == image.opencl_capability);
      CHECK(read->why_not_ported == image.why_not_ported);
      CHECK(read->opencl_file.empty() == image.opencl_file.empty());
    }
  }
}

TEST_CASE("bench/kernel_directory/bad_compute_capability") {
  const Copies copies(reduction::case_study());
  copies.prepend("packed.cl", "// Needs: compute capability many");
  CHECK_THROWS_AS(KernelDirectory(reduction::case_study(), copies.scratch.path().string()), UsageError);
  check_refused("reduction", "--kernel-dir " + copies.scratch.path().string(), 2, "'many' is not a compute capability");
}
