// SPDX-License-Identifier: MIT
#include <bankwise/bench/kernel_directory.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <bankwise/gpu/repeat_section.hpp>
#include <bankwise/support/exit_code.hpp>

namespace bankwise {

KernelDirectory::KernelDirectory(const CaseStudy& study, const std::string& directory) : study_(study) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(directory, error))
    throw UsageError(fmt::format("--kernel-dir {}: no such directory", directory));
  for (const auto& image : study.kernels->images) {
    if (image.opencl_file.empty()) continue;
    const fs::path path = directory / fs::path(image.opencl_file).filename();
    std::ifstream file(path, std::ios::binary);
    if (!fs::is_regular_file(path, error) || !file) {
      throw UsageError(fmt::format("--kernel-dir: there is no {} to read", path.string()));
    }
    const std::string& source =
        sources_.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    const std::string& name = names_.emplace_back(path.string());
    images_.push_back(
        {.name = image.name, .opencl_file = name, .opencl_source = source, .has_section = gpu::has_section(source)});
  }
  kernels_.images = images_;
  study_.kernels = &kernels_;
}

}  // namespace bankwise
