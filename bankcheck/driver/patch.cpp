#include <fmt/format.h>

#include <filesystem>

#include "bankcheck/driver/sinks.hpp"

namespace bankwise::driver {
namespace {

namespace fs = std::filesystem;

/// The path below the directory of --sources, where `git apply` and `patch` will look for it; "" if it is elsewhere.
std::string path_below(const std::string& root, const std::string& path) {
  std::error_code error;
  const fs::path below = fs::weakly_canonical(path, error).lexically_relative(fs::weakly_canonical(root, error));
  return below.empty() || *below.begin() == ".." ? "" : below.generic_string();
}

}  // namespace

std::string write_patch(const SinkInput& input) {
  std::string patch;
  for (const auto& [path, file] : fixed_sources(input.report.kernels, input.fits).edits) {
    const std::string below = path_below(input.sources, path);
    if (!below.empty()) patch += fit::unified_diff(below, file);
  }
  return patch;
}

std::string remark_on_patch(const SinkInput& input) {
  const FixedSources fixed = fixed_sources(input.report.kernels, input.fits);
  std::string remark;
  const auto add = [&](const std::string& sentence) { remark += (remark.empty() ? "" : "; ") + sentence; };
  for (const std::string& sentence : fixed.left_out) add(sentence);
  for (const auto& [path, file] : fixed.files) {
    if (path_below(input.sources, path).empty()) {
      add(fmt::format("{} is not below the directory of --sources, {}", path, input.sources));
    }
  }
  if (!remark.empty()) return "--patch lacks changes: " + remark;
  return fixed.files.empty() ? "--patch is empty: no change is proposed" : "";
}

}  // namespace bankwise::driver
