// Runs the plans of case studies in a separate process, intact or broken on purpose.
#pragma once

#include "port_studies.hpp"
#include "tests/bankcheck/opencl/checked_program.hpp"
#include "tests/case_studies/mutations.hpp"

/// The OpenCL kernels of a case study in a separate folder, one of them broken.
class BrokenPort {
 public:
  explicit BrokenPort(const Mutation& mutation) : file_(mutation.file) {
    const auto sound = std::filesystem::path(SOURCE_DIRECTORY) / file_;
    for (const auto& entry : std::filesystem::directory_iterator(sound.parent_path())) {
      if (entry.path().extension() == ".cl") std::filesystem::copy(entry, folder_.path());
    }
    std::ofstream(folder_.path() / sound.filename()) << mutate(text_of(sound), mutation);
  }
  const bankwise::study::CaseStudy& study() const { return ported_study(file_.parent_path().filename().string()); }
  std::string folder() const { return folder_.path().string(); }

 private:
  std::filesystem::path file_;
  ScratchDirectory folder_;
};

/// The command that runs every variant once; `folder` as run_plans takes it.
inline std::string run_plans(const bankwise::study::CaseStudy& study, bankwise::study::Extent extent,
                             const std::string& folder = "") {
  return program("run_plans") + ' ' + std::string(study.name) + ' ' + std::to_string(extent.height) + ' ' +
         std::to_string(extent.width) + ' ' + std::to_string(extent.depth) +
         (folder.empty() ? "" : " '" + folder + "'");
}

/// The example of docs/checking_opencl.md, with the setup that its program needs.
inline const std::filesystem::path example_kernel = SOURCE_DIRECTORY "/tests/bankcheck/opencl/example/matmul.cl";
inline std::string in_example_folder() { return "cd '" + example_kernel.parent_path().string() + "' &&"; }
