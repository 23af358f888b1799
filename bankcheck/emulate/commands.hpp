// The commands `bankcheck emulate`, `bankcheck nvcc` and `bankcheck hipcc`.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <bankwise/banks/architecture.hpp>
#include <bankwise/support/watch_request.hpp>
#include "bankcheck/driver/recorder.hpp"
#include "bankcheck/emulate/build.hpp"

namespace CLI {
class Option;
}

namespace bankwise::emulate {

/// `bankcheck emulate`: builds any source of CUDA or HIP with g++, and runs it on the CPU.
class Recorder : public driver::ProgramRecorder {
 public:
  Recorder() : driver::ProgramRecorder("blocks") {}
  void declare(CLI::App& command) override;
  std::optional<driver::Outcome> run(driver::Reporting& reporting) override;
  /// Once the options are known: whether the program is of HIP, whose architecture is then gfx942 unless --arch names
  /// another one. Returns the architectures of each run, by the lanes of a warp. Error: UsageError for outputs of more
  /// than one run to one file.
  std::vector<std::vector<std::string>> runs();

 private:
  bool verifies() const { return verify_ || !fixed_.empty(); }
  void check_options(std::span<const banks::Architecture* const> architectures) const;  ///< error: UsageError

  Program program_;
  support::EmulateRequest request_;
  std::string cache_, object_, output_, fixed_;
  bool verify_ = false;
  const CLI::Option* arch_ = nullptr;
  std::vector<std::string> cubins_;  ///< files of machine code; "nvcc": made by it
};

/// Runs the command as driver::check() does, once for each width of a warp that a program of HIP is to be checked with.
int check(Recorder& recorder);

/// A program that was built for the emulator.
struct EmulatedRun {
  std::filesystem::path program;
  std::vector<std::string> command;  ///< as the user would write it: a name, and the arguments
  support::EmulateRequest request;   ///< without the record
  double time_limit = 0;             ///< seconds, after which the program is ended; 0: none
  bool own_stdout = true;            ///< false: the program's stdout goes to stderr
};

/// Runs the program to its end. Error: std::runtime_error if it cannot be started.
driver::Outcome run_emulated(EmulatedRun run);

/// Proof by doing: applies what --fit proposes to a copy of the program's sources, builds and runs it, and prints for
/// each changed kernel the predicted and the observed passes, and whether device memory is as `run` left it. `folder`:
/// where the copies go, new or empty; "" for a temporary folder. Returns exit_ok if all are equal and the program ends
/// well, without a fault that the program, of which `before` is the trace, lacks; exit_wrong otherwise. Errors: as
/// build() and run_emulated().
int verify(const driver::Reporting& reporting, const trace::Trace& before, const Program& program, EmulatedRun run,
           const std::filesystem::path& cache, const std::string& folder);

// --- What these commands share ---

/// Adds the options of a program's build: -I, -D and so on.
void declare_build_options(CLI::App& command, Program& program);
inline constexpr const char* link_loop = "its symbolic links form a loop";
bool is_link_loop(std::error_code error);
/// Error: UsageError if a source does not exist. g++ would say so at length.
void check_sources(const Program& program);
/// The compute capability, times ten, of an architecture of NVIDIA; 0 for others.
unsigned capability_of(const banks::Architecture& architecture);
/// Fills in what a program's build needs of the architecture that it runs on.
void choose_architecture(Program& program, const banks::Architecture& architecture);

// --- bankcheck nvcc and hipcc: compilers that make programs for the emulator, for the Makefiles of others ---
// make NVCC="bankcheck nvcc"

/// What the command line of a compiler asks for. Its options are those of nvcc and hipcc; compiler_options.cpp has how
/// they are called here.
struct CompileOptions {
  Program program;
  std::string architecture;  ///< empty: sm_90, or gfx942 for hipcc
  std::string output, cache;
  std::string rule_file, rule_target;
  bool compile = false, only_rule = false, rule = false, archive = false, device_link = false, version = false;
};

void declare_nvcc(CLI::App& command, CompileOptions& options);
void declare_hipcc(CLI::App& command, CompileOptions& options);

/// Runs both. Returns exit_ok. Errors: UsageError; BuildFailed; std::runtime_error.
int compile(CompileOptions& options);

}  // namespace bankwise::emulate
