// SPDX-License-Identifier: MIT
//
// The files that an emulated program writes for bankcheck, and its messages to the user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <bankwise/emulator/runtime/errors.hpp>
#include <bankwise/trace/fault.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::emulator::runtime {

/// The settings that bankcheck passes in the environment.
struct Settings {
  std::string record;                              ///< file that launches are appended to; empty: none
  std::uint64_t max_launches = 0, max_blocks = 0;  ///< to record per kernel, and per launch; 0: all
  unsigned warp = 32;
  std::uint64_t step_limit = 0;      ///< of a block; 0: the emulator's default
  bool run_repeated = false;         ///< launches whose results are known, too
  std::vector<std::string> kernels;  ///< globs: only these are recorded; empty: all
  bool fatal = false, warp_synchronous = false, returned_lanes_arrive = false;  ///< as in Launch
  std::vector<trace::Fault> allow;
};
const Settings& settings();

/// Appends a launch to the record. Without one, its diagnoses go to stderr.
void record(const trace::KernelTrace& launch);

/// Reports a fault of the program on stderr, and in the record. `caller`: the address of the call, 0 if unknown.
void report(const std::string& sentence, const void* caller = nullptr);
/// "main.cu:12" for the address of a call; "?" if unknown.
std::string place_of(const void* caller);

/// Sets what cudaGetLastError() returns, and returns it. A fault of a kernel is `sticky`: it stays, as on a GPU.
cudaError_t failed(cudaError_t error, bool sticky = false);
/// The sticky error, or cudaSuccess.
cudaError_t lasting_error();

}  // namespace bankwise::emulator::runtime
