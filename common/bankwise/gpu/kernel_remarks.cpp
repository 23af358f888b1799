// SPDX-License-Identifier: MIT
#include <bankwise/gpu/kernel_remarks.hpp>

#include <cmath>
#include <stdexcept>

namespace bankwise::gpu {

std::string remark(std::string_view source, std::string_view begin) {
  const std::string line = "\n// " + std::string(begin);
  const auto at = source.find(line);
  if (at == std::string_view::npos) return "";
  const auto from = at + line.size();
  std::string_view text = source.substr(from, source.find('\n', from) - from);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return std::string(text);
}

unsigned needed_capability(std::string_view source) {
  const std::string needs = remark(source, "Needs: compute capability ");
  if (needs.empty()) return 0;
  try {
    return unsigned(std::lround(10 * std::stod(needs)));
  } catch (const std::logic_error&) {
    throw std::invalid_argument("'" + needs + "' is not a compute capability");
  }
}

std::string why_not_ported(std::string_view source) {
  const std::string reason = remark(source, "No OpenCL port: ");
  return reason.empty() ? remark(source, "No CUDA counterpart: ") : reason;
}

}  // namespace bankwise::gpu
