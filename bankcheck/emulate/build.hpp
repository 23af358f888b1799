// SPDX-License-Identifier: MIT
//
// Builds a CUDA program for the CPU.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "bankcheck/emulate/toolchain.hpp"

namespace bankwise::emulate {

/// A program as the user gives it.
struct Program {
  std::vector<std::string> sources;
  std::vector<std::string> include, definitions;  ///< of -I and -D
  std::string standard = "c++17";
  unsigned capability = 90;            ///< compute capability, times ten: for __CUDA_ARCH__
  std::vector<std::string> libraries;  ///< of -l, host libraries
  std::vector<std::string> options;    ///< of g++, to compile and to link
};

/// A program that does not compile. what() is a sentence; `messages` are g++'s.
struct BuildFailed : std::runtime_error {
  BuildFailed(const std::string& sentence, std::string messages_)
      : std::runtime_error(sentence), messages(std::move(messages_)) {}
  std::string messages;
};

/// The executable, from the cache if nothing has changed. Errors: BuildFailed; std::runtime_error.
std::filesystem::path build(const Program& program, const Toolchain& toolchain, const std::filesystem::path& cache);

/// Compiles the only source of a program to an object file, and writes the rule of its headers next to it, as `object`
/// with .d: for CMake's bankwise_emulate(). Errors: as build().
void build_object(const Program& program, const Toolchain& toolchain, const std::filesystem::path& cache,
                  const std::filesystem::path& object);

}  // namespace bankwise::emulate
