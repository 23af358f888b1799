// Runs one of the programs of this folder under `bankcheck cuda` on the GPU, and reads its trace.
#pragma once

#include <fstream>

#include <bankwise/trace/codec.hpp>
#include "watched_program.hpp"

/// What a program did, as `bankcheck cuda --trace` writes it.
struct Traced {
  Outcome outcome;
  bankwise::trace::Trace trace;

  const bankwise::trace::KernelTrace& kernel(const std::string& name) const {
    for (const bankwise::trace::KernelTrace& kernel : trace.kernels) {
      if (kernel.kernel == name) return kernel;
    }
    throw std::runtime_error("no kernel " + name);
  }
};

/// The program must succeed.
inline Traced traced(const std::string& command, const std::string& options = "") {
  const ScratchDirectory scratch;
  const auto file = scratch.path() / "trace.jsonl";
  Traced traced{ended(0, watch(command, options + " --trace '" + file.string() + "'")), {}};
  std::ifstream lines(file);
  traced.trace = bankwise::trace::read_json_lines(lines, "trace").trace;
  return traced;
}
