// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/cubin/emitted.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace bankwise::cuda {

std::map<EmittedAt, std::map<std::string, std::uint64_t>> emitted_in(const Cubin& cubin) {
  constexpr unsigned instruction_bytes = 16;
  constexpr std::array<std::string_view, 3> shared{"LDS", "STS", "ATOMS"};  // LDSM and STSM are no lines of C++
  std::map<EmittedAt, std::map<std::string, std::uint64_t>> all;
  for (const Cubin::Function& function : cubin.functions()) {
    for (std::uint64_t pc = 0; pc < function.bytes; pc += instruction_bytes) {
      const auto instruction = cubin.instruction_at(function.name, pc);
      if (!instruction) continue;
      const std::string name = instruction->opcode.substr(0, instruction->opcode.find('.'));
      if (std::find(shared.begin(), shared.end(), name) == shared.end()) continue;
      const auto frames = cubin.source_of(function.name, pc);
      if (frames.empty() || frames.front().line == 0) continue;
      ++all[{frames.front().file, frames.front().line}][instruction->opcode];
    }
  }
  return all;
}

}  // namespace bankwise::cuda
