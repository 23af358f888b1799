// SPDX-License-Identifier: MIT
//
// Which kernels are watched, by the globs of --kernel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bankwise::cuda {

class KernelFilter {
 public:
  KernelFilter() = default;  ///< all kernels

  /// Globs as fnmatch() has them, each for the mangled name, the whole demangled name, or the demangled name without
  /// return type, template arguments and parameters. No glob: all kernels.
  explicit KernelFilter(std::vector<std::string> globs) : globs_(std::move(globs)) {}

  bool accepts(const std::string& mangled) const;

  /// Whether a cubin may contain a kernel that is accepted: true if in doubt, also for bytes that are no cubin.
  bool accepts_some_kernel(std::string_view cubin) const;

 private:
  std::vector<std::string> globs_;
};

/// "void ns::transpose<float, 32>(float*)" -> "ns::transpose".
std::string bare_name(const std::string& demangled);

}  // namespace bankwise::cuda
