#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "bankcheck/driver/recorder.hpp"

namespace bankwise::cuda {

/// `bankcheck cuda`: runs any CUDA program on an NVIDIA GPU, with a library in it that records.
class Recorder : public driver::ProgramRecorder {
 public:
  Recorder() : driver::ProgramRecorder("blocks") { options.report.architectures.clear(); }  // by default the GPU's
  void declare(CLI::App& command) override;
  std::optional<driver::Outcome> run(driver::Reporting& reporting) override;

 private:
  std::string sanitizer_;                ///< directory of libsanitizer-public.so; empty: it is looked for
  std::uint64_t table_mebibytes_ = 256;  ///< device memory for each context
};

// What `bankcheck cuda` needs, asked for before a program is started that would only fail.

/// NVIDIA's libsanitizer-public.so in a directory, or where it usually is. Error: std::runtime_error if there is none.
std::filesystem::path find_sanitizer(const std::string& folder);

/// The library for the CUDA driver to load into the program. Error: std::runtime_error if bankcheck has none.
std::filesystem::path find_injection();

/// Returns if the CUDA driver (libcuda.so.1) has a device; CUDA_VISIBLE_DEVICES may hide all of them. A child process
/// asks, so this one keeps no CUDA state. Errors: driver::CommandFailed with exit_nothing if the machine has no NVIDIA
/// GPU, or no driver for one; std::runtime_error if the driver fails in another way.
void check_gpu_present();

}  // namespace bankwise::cuda
