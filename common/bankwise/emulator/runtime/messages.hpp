// The settings of an emulated program, the files that it writes for bankcheck, and its messages to the user.
#pragma once

#include <string>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/emulator/runtime/types.hpp>
#include <bankwise/support/watch_request.hpp>
#include <bankwise/trace/fault.hpp>
#include <bankwise/trace/trace.hpp>

namespace bankwise::emulator::runtime {

/// The settings that bankcheck passes in the environment.
struct EmulateSettings : support::EmulateRequest {
  std::vector<trace::Fault> allow;  ///< as faults
};
const EmulateSettings& settings();

/// The GPU that this program runs on: that of the request, or of sm_90 where the table of architectures knows none;
/// with 8 multiprocessors if few_multiprocessors.
const banks::GpuModel& this_gpu();

/// The lanes of a wave that a program of HIP for GPUs of AMD was built for; 0 for other programs.
unsigned wave_of_program();
/// A sentence with HIP's names in place of CUDA's, in a program of HIP.
std::string in_words_of_program(std::string sentence);

/// Appends a launch to the record. Without one, its diagnoses go to stderr.
void record(const trace::KernelTrace& launch);

/// Reports a fault of the program on stderr, and in the record. `caller`: the address of the call, 0 if unknown.
void report(const std::string& sentence, const void* caller = nullptr);
/// "main.cu:12" for the address of a call; "?" if unknown.
std::string place_of(const void* caller);

}  // namespace bankwise::emulator::runtime
