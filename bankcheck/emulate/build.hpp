// Builds a CUDA program for the CPU.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bankwise/support/exit_code.hpp>
#include "bankcheck/driver/recorder.hpp"

namespace bankwise::emulate {

struct Toolchain {
  std::string compiler, cmake, readelf;
  std::string script;                ///< DefineDynamicShared.cmake
  std::vector<std::string> compile;  ///< g++'s options that instrument kernels
  std::vector<std::string> include;  ///< folders
  std::vector<std::string> link;     ///< options and libraries
  std::string header;                ///< that each source sees first
  std::string identity;              ///< changes with the emulator and the compiler
};

/// Reads a file of lines "key value"; paths that begin with @/ are relative to its folder. Error: std::runtime_error.
Toolchain read_toolchain(const std::filesystem::path& file);

/// The one next to bankcheck. Error: std::runtime_error if this bankcheck has none.
Toolchain find_toolchain();

/// A program as the user gives it.
struct Program {
  std::vector<std::string> sources;
  std::vector<std::string> include, definitions;  ///< the values of -I and -D
  std::string standard = "c++17";
  unsigned capability = 90;            ///< compute capability, times ten: for __CUDA_ARCH__
  std::vector<std::string> libraries;  ///< the values of -l: host libraries
  std::vector<std::string> options;    ///< for g++, to compile and to link
};

/// The options -D and -I of a program.
std::vector<std::string> header_options(const Program& program);

/// A program that does not compile. what() is a sentence; `details` are g++'s messages.
struct BuildFailed : driver::CommandFailed {
  BuildFailed(const std::string& sentence, std::string messages)
      : CommandFailed(exit_device, sentence, std::move(messages)) {}
};

/// The executable, from the cache if nothing has changed. Errors: BuildFailed; std::runtime_error.
std::filesystem::path build(const Program& program, const Toolchain& toolchain, const std::filesystem::path& cache);

/// Compiles the only source of a program to an object file, and writes the rule of its headers next to it, as `object`
/// with .d: for CMake's bankwise_emulate(). Errors: as build().
void build_object(const Program& program, const Toolchain& toolchain, const std::filesystem::path& cache,
                  const std::filesystem::path& object);

/// A file or folder of the CUDA Toolkit that CUDA_HOME or CUDA_PATH names, or of that in /usr/local/cuda; empty if
/// there is none.
std::filesystem::path find_in_toolkit(std::string_view name);
/// nvcc on the PATH, or in a toolkit.
std::filesystem::path find_nvcc();

/// Compiles each .cu of a program for its compute capability, with its source lines; from the cache if nothing has
/// changed. Errors: BuildFailed; std::runtime_error.
std::vector<std::filesystem::path> compile_cubins(const Program& program, const std::filesystem::path& nvcc,
                                                  const std::filesystem::path& cache);

/// Sentences such as "main.cu:12: cudaGraphLaunch is not emulated", each once, in the order of the messages. Empty if
/// the errors have other causes.
std::vector<std::string> missing_in(std::string_view messages);

/// The first error: "main.cu:12: expected ';' before ...". Empty if there is none.
std::string first_error_in(std::string_view messages);

}  // namespace bankwise::emulate
