// SPDX-License-Identifier: MIT
//
// Runs a CUDA program on the GPU with bankcheck's library in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::cuda {

struct CudaRun {
  /// To report on; empty: those of the GPUs that the program uses.
  std::vector<const banks::Architecture*> architectures;
  std::vector<std::string> command;  ///< the program and its arguments
  std::vector<std::string> kernels;  ///< globs of the kernels to watch; empty: all
  std::string sanitizer;             ///< directory of libsanitizer-public.so; empty: it is looked for
  std::uint64_t max_launches = 0;    ///< launches to watch of each kernel and launch shape; 0: all
  std::uint64_t max_groups = 0;      ///< blocks to watch per launch; 0: all
  std::uint64_t table_bytes = 0;     ///< device memory per context; 0: the library's default
  double time_limit = 0;             ///< seconds, after which the program is ended; 0: none
  bool own_stdout = true;            ///< the program shares bankcheck's stdout; otherwise its stdout goes to stderr
};

struct Outcome {
  trace::Trace trace;
  std::vector<std::string> left_out;  ///< what the trace lacks and why, a sentence each
  /// If the run failed: one sentence that names the cause. The trace then ends at the failure.
  std::optional<std::string> failure;
  std::vector<const banks::Architecture*> architectures;  ///< to report on
  bool interrupted = false;  ///< a signal or the time limit ended the run; `failure` says so
};

/// Runs the program to its end. Errors: std::runtime_error if it cannot be started, a library is missing, or the bank
/// model lacks a GPU that it used and no architecture is given; NoGpu (gpu_present.hpp), before it is started, if there
/// is no GPU.
Outcome run_on_gpu(const CudaRun& run);

}  // namespace bankwise::cuda
