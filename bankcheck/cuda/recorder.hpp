#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bankcheck/driver/measure.hpp"
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
  bool time_ = false;                    ///< run the program again, without watching it, for the times of its kernels
  driver::MeasureOptions measure_;
  std::string build_;                ///< for measure_: the shell command that builds the program
  std::vector<std::string> copied_;  ///< for measure_: what is copied although git ignores it
};

}  // namespace bankwise::cuda
