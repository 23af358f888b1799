// The commands `bankcheck nvcc` and `bankcheck hipcc`: compilers that make programs for the emulator, for the Makefiles
// of others: make NVCC="bankcheck nvcc".
#pragma once

#include <string>
#include <system_error>

#include <bankwise/banks/architecture.hpp>
#include "bankcheck/emulate/build.hpp"

namespace CLI {
class App;
}

namespace bankwise::emulate {

// --- What these commands and bankcheck emulate share ---

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
