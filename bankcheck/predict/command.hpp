// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace bankwise::predict {

struct PredictOptions {
  const CLI::App* command = nullptr;  ///< knows which options were given
  std::string architecture = "sm_90", accesses, index, operation = "load", mask, svg;
  unsigned width = 0, lanes = 0;  // 0: the default
  bool json = false;
};

struct ArchsOptions {
  bool json = false;
};

/// A table of the architectures with their aliases and GPUs, followed by the bank rules of each architecture: per
/// operation, which lanes are served together in which banks, with evidence and source.
std::string architectures_text();
std::string architectures_json();

/// `bankcheck archs` prints it. Returns exit_ok.
void declare_archs(CLI::App& command, ArchsOptions& options);
int archs(ArchsOptions& options);

/// The options of `bankcheck predict`.
void declare_predict(CLI::App& command, PredictOptions& options);

/// Runs it. Returns exit_ok. Errors: UsageError; std::runtime_error for an output that cannot be written.
int predict(PredictOptions& options);

}  // namespace bankwise::predict
