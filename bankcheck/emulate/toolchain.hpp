// SPDX-License-Identifier: MIT
//
// What compiles programs for the emulator. CMake writes it to the file emulate/toolchain.txt, in the build folder and
// in the installation.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

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

}  // namespace bankwise::emulate
