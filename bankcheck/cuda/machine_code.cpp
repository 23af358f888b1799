// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/machine_code.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <bankwise/support/exit_code.hpp>
#include <bankwise/support/in_quotes.hpp>
#include "bankcheck/cuda/cubin/emitted.hpp"

namespace bankwise::cuda {

std::vector<driver::EmittedLine> emitted_lines(const std::string& path, bool may_be_empty) {
  if (path.empty()) return {};
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("--cubin {}: {}", in_quotes(path), why));
  };
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) refuse("it cannot be read");
  std::vector<driver::EmittedLine> lines;
  try {
    const Cubin cubin({std::istreambuf_iterator<char>(file), {}});
    for (const auto& [at, opcodes] : emitted_in(cubin)) lines.push_back({at.file, at.line, opcodes});
    if (!cubin.line_error().empty()) refuse(cubin.line_error());
  } catch (const UsageError&) {
    throw;
  } catch (const std::runtime_error& error) {
    refuse(error.what());
  }
  if (lines.empty() && !may_be_empty)
    refuse("it has no source lines with accesses to shared memory; compile it with -lineinfo");
  return lines;
}

}  // namespace bankwise::cuda
