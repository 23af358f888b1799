// SPDX-License-Identifier: MIT
#pragma once

#include <deque>
#include <string>
#include <vector>

#include <bankwise/study/case_study.hpp>

namespace bankwise::bench {

/// A case study that reads its OpenCL sources from a directory instead of the program, so you can edit a kernel without
/// a build. All of its .cl files must exist, and their requirements on devices hold. It has no CUDA kernels.
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

}  // namespace bankwise::bench
