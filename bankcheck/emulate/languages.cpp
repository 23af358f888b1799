#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include <bankwise/support/files.hpp>
#include "bankcheck/driver/source_finder.hpp"
#include "bankcheck/emulate/build.hpp"

namespace bankwise::emulate {
namespace {

namespace fs = std::filesystem;
struct LanguageRow {
  std::string_view extension;
  Language language;
};
constexpr LanguageRow language_rows[]{{".c", Language::c},      {".cpp", Language::host},   {".cc", Language::host},
                                      {".cxx", Language::host}, {".C", Language::host},     {".c++", Language::host},
                                      {".o", Language::object}, {".obj", Language::object}, {".a", Language::object},
                                      {".so", Language::object}};

Language by_extension(const fs::path& file) {
  const std::string extension = file.extension().string();
  const auto* const row = std::ranges::find(language_rows, extension, &LanguageRow::extension);
  return row == std::end(language_rows) ? Language::kernels : row->language;
}

/// The name in `#include <hip/hip_runtime.h>` and `#include "x.h"`; empty for other lines.
std::string included_name(const std::string& line) {
  char name[4096] = "", end = '\0';
  const int fields = std::sscanf(line.c_str(), " # include %*1[<\"]%4095[^>\"]%c", name, &end);
  return fields == 2 ? name : "";
}

bool is_header_of_hip(std::string_view name) { return name.starts_with("hip/") || name == "hip_runtime.h"; }

/// Whether a source or a header of the program mentions HIP's headers, perhaps under a condition.
bool mentions_hip(const fs::path& file, const Program& program, std::set<fs::path>& seen) {
  if (!seen.insert(fs::absolute(file).lexically_normal()).second) return false;
  for (const std::string& line : driver::lines_of(support::read_file(file).value_or(""))) {
    const std::string name = included_name(line);
    if (name.empty()) continue;
    if (is_header_of_hip(name)) return true;
    std::vector<fs::path> folders{file.parent_path()};
    folders.insert(folders.end(), program.include.begin(), program.include.end());
    for (const fs::path& folder : folders) {
      std::error_code ignored;
      const fs::path header = folder / name;
      if (fs::is_regular_file(header, ignored) && mentions_hip(header, program, seen)) return true;
    }
  }
  return false;
}

bool preprocessor_finds_hip(const std::string& source, const Program& program, const Toolchain& toolchain) {
  std::set<fs::path> seen;
  if (!mentions_hip(source, program, seen)) return false;
  Words command{toolchain.compiler, "-E", "-M", "-MG", "-w", "-x", "c++", "-std=gnu++17"};
  append(command, toolchain.compile);
  append(command, program.hip ? Words{"-D__HIPCC__", "-D__HIP_PLATFORM_AMD__"} : Words{"-D__CUDACC__", "-D__NVCC__"});
  append(command, program.options);
  append(command, header_options(program, toolchain.include));
  command.push_back(source);
  const Words files = files_in_rule(driver::run_quietly(command).output);
  return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
    const auto is_ours = [&](const std::string& folder) { return file.starts_with(folder + "/hip"); };
    return is_header_of_hip(file) || std::any_of(toolchain.include.begin(), toolchain.include.end(), is_ours);
  });
}

/// Whether a source includes HIP's headers when it is compiled as CUDA, because it may choose between the two; in a
/// program of HIP, when it is compiled as HIP.
bool includes_hip(const std::string& source, const Program& program, const Toolchain& toolchain) {
  static std::mutex mutex;  // sources are compiled by several threads
  static std::map<std::pair<std::string, bool>, bool> known;
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = known.try_emplace({source, program.hip}, false);
  if (is_new) entry->second = preprocessor_finds_hip(source, program, toolchain);
  return entry->second;
}

}  // namespace

Language language_of(const fs::path& file, const Program& program, const Toolchain& toolchain) {
  const Language language = by_extension(file);
  if (language == Language::object) return language;
  if (!program.language.empty()) return program.language == "c++" ? Language::host : Language::kernels;
  const bool may_be_hip = language == Language::host && program.hip;
  return may_be_hip && includes_hip(file.string(), program, toolchain) ? Language::kernels : language;
}

bool is_hip(const Program& program, const Toolchain& toolchain) {
  if (program.hip || program.language == "hip") return true;
  if (!program.language.empty()) return false;
  return std::any_of(program.sources.begin(), program.sources.end(), [&](const std::string& source) {
    if (fs::path(source).extension() == ".hip") return true;
    const Language language = by_extension(source);
    const bool is_cplusplus = language == Language::kernels || language == Language::host;
    return is_cplusplus && includes_hip(source, program, toolchain);
  });
}

std::vector<std::string> compiler_macros(const Program& program) {
  Words macros;
  if (program.gpu.empty()) {  // nvcc 12.8, which CUDART_VERSION names
    macros = {"__CUDACC__",
              "__NVCC__",
              "__CUDACC_VER_MAJOR__=12",
              "__CUDACC_VER_MINOR__=8",
              "__CUDACC_VER_BUILD__=93",
              "__CUDA_API_VER_MAJOR__=12",
              "__CUDA_API_VER_MINOR__=8",
              fmt::format("__CUDA_ARCH__={}", program.capability * 10),
              fmt::format("__CUDA_ARCH_LIST__={}", program.capability * 10)};
  }
  if (program.hip) append(macros, {"BANKWISE_HIP", "__HIPCC__", "__HIP_DEVICE_COMPILE__"});
  if (program.hip && program.gpu.empty()) append(macros, {"__HIP_PLATFORM_NVIDIA__", "__HIP_PLATFORM_NVCC__"});
  if (!program.gpu.empty()) {
    append(macros, {fmt::format("BANKWISE_WAVE={}", program.wave), fmt::format("BANKWISE_GPU=\"{}\"", program.gpu),
                    "__HIP__", "__HIP_PLATFORM_AMD__", "__HIP_PLATFORM_HCC__", "__AMDGCN__", "__AMDGPU__",
                    fmt::format("__{}__", program.gpu), fmt::format("__AMDGCN_WAVEFRONT_SIZE={}", program.wave),
                    fmt::format("__AMDGCN_WAVEFRONT_SIZE__={}", program.wave)});
    if (program.gpu.size() > 5)
      macros.push_back(fmt::format("__GFX{}__", program.gpu.substr(3, program.gpu.size() - 5)));
  }
  for (std::string& macro : macros) macro.insert(0, "-D");
  return macros;
}

}  // namespace bankwise::emulate
