// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <string>
#include <vector>

#include <bankwise/study/case_study.hpp>

namespace bankwise {

/// A case study whose OpenCL sources come from a directory instead of the program, so that a kernel can be edited
/// without a build. All of its .cl files must be there, and what they say of the devices they need holds. It has no CUDA
/// kernels.
class KernelDirectory {
 public:
  /// Error: UsageError.
  KernelDirectory(const CaseStudy& study, const std::string& directory);
  KernelDirectory(const KernelDirectory&) = delete;
  KernelDirectory& operator=(const KernelDirectory&) = delete;

  const CaseStudy& study() const { return study_; }

 private:
  CaseStudy study_;
  std::deque<std::string> names_, sources_, reasons_;  // deques: the images refer to their strings
  std::vector<gpu::KernelImage> images_;
  gpu::KernelSet kernels_;
};

}  // namespace bankwise
