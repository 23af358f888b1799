// SPDX-License-Identifier: MIT
#include "bankcheck/emulate/cubins.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "bankcheck/driver/child_process.hpp"
#include "bankcheck/emulate/cache.hpp"
#include "bankcheck/emulate/compiler_messages.hpp"
#include "bankcheck/emulate/hash.hpp"
#include "bankcheck/emulate/quiet_command.hpp"

namespace bankwise::emulate {
namespace {

namespace fs = std::filesystem;

fs::path cubin_of(const std::string& source, const Program& program, const fs::path& nvcc, const fs::path& cache) {
  std::vector<std::string> command{nvcc.string(), "-cubin", "-lineinfo", fmt::format("-arch=sm_{}", program.capability),
                                   // nvcc 12 does not know C++23.
                                   fmt::format("-std={}", program.standard == "c++23" ? "c++20" : program.standard),
                                   "-w"};
  for (const std::string& one : program.definitions) command.push_back("-D" + one);
  for (const std::string& one : program.include) command.push_back("-I" + one);
  Hash hash;
  for (const std::string& word : command) hash.add(word);
  hash.add(source);
  hash.add(fs::current_path().string());
  std::error_code ignored;
  hash.add(std::to_string(fs::last_write_time(nvcc, ignored).time_since_epoch().count()));
  const fs::path folder = cache / "cubins" / hash.text();
  fs::create_directories(folder);
  const FolderLock lock(folder);
  touch(folder);
  fs::path cubin = folder / (fs::path(source).stem().string() + ".cubin");
  const fs::path manifest = folder / "manifest", rule = folder / "rule";
  if (fs::exists(cubin) && is_current(manifest)) return cubin;
  fs::remove(manifest);
  for (const std::string& word :
       {std::string("-MD"), std::string("-MF"), rule.string(), std::string("-o"), cubin.string(), source}) {
    command.push_back(word);
  }
  const Ran ran = run_quietly(command);
  if (ran.status != 0) {
    const std::string first = first_error_in(ran.output);
    throw BuildFailed(fmt::format("nvcc does not compile {} for sm_{}{}", source, program.capability,
                                  first.empty() ? "" : ": " + first),
                      ran.output);
  }
  std::ifstream text(rule, std::ios::binary);
  write_manifest(manifest, files_in_rule(std::string(std::istreambuf_iterator<char>(text), {})));
  return cubin;
}

}  // namespace

fs::path find_nvcc() {
  if (fs::path nvcc = driver::find_program("nvcc"); !nvcc.empty()) return nvcc;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH", ""}) {
    const char* toolkit = *variable == '\0' ? "/usr/local/cuda" : std::getenv(variable);
    if (toolkit == nullptr) continue;
    fs::path nvcc = fs::path(toolkit) / "bin" / "nvcc";
    std::error_code ignored;
    if (fs::exists(nvcc, ignored)) return nvcc;
  }
  return {};
}

std::vector<fs::path> cubins_of(const Program& program, const fs::path& nvcc, const fs::path& cache) {
  std::vector<fs::path> cubins;
  for (const std::string& source : program.sources) {
    if (fs::path(source).extension() == ".cu") cubins.push_back(cubin_of(source, program, nvcc, cache));
  }
  return cubins;
}

}  // namespace bankwise::emulate
