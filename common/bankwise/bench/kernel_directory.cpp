// SPDX-License-Identifier: MIT
#include <bankwise/bench/kernel_directory.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include <bankwise/gpu/kernel_remarks.hpp>
#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/files.hpp>

namespace bankwise::bench {

KernelDirectory::KernelDirectory(const CaseStudy& study, const std::string& directory) : study_(study) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(directory, error))
    throw UsageError(fmt::format("--kernel-dir {}: no such directory", directory));
  for (const auto& image : study.kernels->images) {
    if (image.opencl_file.empty()) {  // it stays the kernel of the other API, with the reason from its file
      images_.push_back({.name = image.name, .why_not_ported = image.why_not_ported});
      continue;
    }
    const fs::path path = directory / fs::path(image.opencl_file).filename();
    auto text = read_file(path);
    if (!fs::is_regular_file(path, error) || !text) {
      throw UsageError(fmt::format("--kernel-dir: there is no {} to read", path.string()));
    }
    const std::string& source = sources_.emplace_back(std::move(*text));
    const std::string& name = names_.emplace_back(path.string());
    gpu::KernelImage& edited = images_.emplace_back();
    edited.name = image.name;
    edited.opencl_file = name;
    edited.opencl_source = source;
    edited.has_section = gpu::has_section(source);
    edited.why_not_ported = reasons_.emplace_back(gpu::why_not_ported(source));
    try {
      edited.opencl_capability = gpu::needed_capability(source);
    } catch (const std::invalid_argument& why) {
      throw UsageError(fmt::format("--kernel-dir: {}: {}", name, why.what()));
    }
  }
  kernels_.images = images_;
  study_.kernels = &kernels_;
}

}  // namespace bankwise::bench
