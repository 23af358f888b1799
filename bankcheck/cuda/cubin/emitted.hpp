// SPDX-License-Identifier: MIT
//
// What a compiler made of a source line: its instructions on shared memory.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "bankcheck/cuda/cubin/cubin.hpp"

namespace bankwise::cuda {

struct EmittedAt {
  std::string file;  // as the compiler was given it
  unsigned line = 0;
  auto operator<=>(const EmittedAt&) const = default;
};

/// How often each opcode of LDS, STS and ATOMS stands in the code of a line, over all functions. Code of functions that
/// were inlined counts for their own lines. Instructions without a line are left out.
std::map<EmittedAt, std::map<std::string, std::uint64_t>> emitted_in(const Cubin& cubin);

}  // namespace bankwise::cuda
