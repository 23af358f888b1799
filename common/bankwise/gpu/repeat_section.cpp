// SPDX-License-Identifier: MIT
#include <bankwise/gpu/repeat_section.hpp>

#include <stdexcept>

namespace bankwise::gpu {
namespace {

void replace_only(std::string& text, std::string_view marker, std::string_view replacement) {
  const auto at = text.find(marker);
  if (at == std::string::npos || text.find(marker, at + 1) != std::string::npos) {
    throw std::invalid_argument("a kernel marks its section with exactly one line '" + std::string(marker) + "'");
  }
  text.replace(at, marker.size(), replacement);
}

}  // namespace

bool has_section(std::string_view source) { return source.find(section_begin) != std::string_view::npos; }

std::string repeat_section(std::string_view source, Api api, unsigned repeats) {
  std::string text(source);
  replace_only(text, section_begin, "for (int turn = 0; turn < " + std::to_string(repeats) + "; ++turn) {");
  replace_only(text, section_end, api == Api::cuda ? "__syncthreads(); }" : "barrier(CLK_LOCAL_MEM_FENCE); }");
  return text;
}

}  // namespace bankwise::gpu
