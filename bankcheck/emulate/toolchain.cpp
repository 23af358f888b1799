#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include <bankwise/support/files.hpp>
#include "bankcheck/emulate/build.hpp"

namespace bankwise::emulate {
namespace {

namespace fs = std::filesystem;

/// Adds a file's size and time, which stand for its content.
void add_file(Hash& hash, const fs::path& path) {
  std::error_code ignored;
  hash.add(path.string());
  hash.add(std::to_string(fs::file_size(path, ignored)));
  hash.add(std::to_string(fs::last_write_time(path, ignored).time_since_epoch().count()));
}

/// A hash of the file, the tools, and all headers that a program may see.
std::string identity_of(const Toolchain& toolchain, const fs::path& file) {
  Hash hash;
  add_file(hash, file);
  add_file(hash, driver::find_program(toolchain.compiler));
  add_file(hash, toolchain.script);
  for (const std::string& library : toolchain.link) {
    if (library.ends_with(".a") || library.ends_with(".so")) add_file(hash, library);
  }
  for (const std::string& folder : toolchain.include) {
    const fs::path root = fs::path(folder) / "bankwise" / "emulator";
    std::vector<fs::path> headers;
    std::error_code ignored;
    for (fs::recursive_directory_iterator entry(fs::exists(root) ? root : fs::path(folder), ignored), end;
         !ignored && entry != end; entry.increment(ignored)) {
      if (entry->is_regular_file(ignored)) headers.push_back(entry->path());
    }
    std::sort(headers.begin(), headers.end());
    for (const fs::path& header : headers) add_file(hash, header);
  }
  return hash.text();
}

fs::path compile_cubin(const std::string& source, const Program& program, const fs::path& nvcc, const fs::path& cache) {
  Words command{nvcc.string(), "-cubin", "-lineinfo", fmt::format("-arch=sm_{}", program.capability),
                // nvcc 12 does not know C++23.
                fmt::format("-std={}", program.standard == "c++23" ? "c++20" : program.standard), "-w"};
  if (fs::path(source).extension() != ".cu") append(command, {"-x", "cu"});
  append(command, header_options(program));
  std::error_code ignored;
  const std::string time = std::to_string(fs::last_write_time(nvcc, ignored).time_since_epoch().count());
  const CacheEntry entry(cache, "cubins", Hash(command, source, fs::current_path().string(), time));
  fs::path cubin = entry / (fs::path(source).stem().string() + ".cubin");
  const fs::path rule = entry / "rule";
  if (is_current(entry.manifest)) return cubin;
  fs::remove(entry.manifest);
  const auto hashes = [&] {
    Words dependencies = command;
    append(dependencies, {"-M", "-MF", rule.string(), source});
    driver::run_quietly(dependencies);
    return hashes_of(files_in_rule(support::read_file(rule).value_or("")));
  };
  const std::string before = hashes(), part = cubin.string() + ".part";
  append(command, {"-o", part, source});
  const driver::Ran ran = driver::run_quietly(command);
  if (ran.status != 0) {
    const std::string first = first_error_in(ran.output);
    throw BuildFailed(fmt::format("nvcc does not compile {} for sm_{}{}", source, program.capability,
                                  first.empty() ? "" : ": " + first),
                      ran.output);
  }
  fs::rename(part, cubin);
  // What was saved while nvcc compiled may not be in the cubin; then the next run compiles again.
  if (hashes() == before) write_manifest(entry.manifest, before + hashes_of({cubin.string()}));
  return cubin;
}

}  // namespace

Toolchain read_toolchain(const fs::path& file) {
  Toolchain toolchain;
  const std::map<std::string_view, std::string*> texts{{"compiler", &toolchain.compiler},
                                                       {"readelf", &toolchain.readelf},
                                                       {"script", &toolchain.script},
                                                       {"header", &toolchain.header}};
  const std::map<std::string_view, std::vector<std::string>*> lists{
      {"compile", &toolchain.compile}, {"include", &toolchain.include}, {"link", &toolchain.link}};
  const fs::path folder = file.parent_path();
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    const auto blank = line.find(' ');
    const std::string key = line.substr(0, blank);
    std::string value = blank == std::string::npos ? "" : line.substr(blank + 1);
    for (auto at = value.find("@/"); at != std::string::npos; at = value.find("@/", at)) {
      value.replace(at, 1, folder.string());
    }
    if (const auto text = texts.find(key); text != texts.end()) {
      *text->second = value;
    } else if (const auto list = lists.find(key); list != lists.end()) {
      list->second->push_back(value);
    } else {
      throw std::runtime_error(fmt::format("{} has the unknown key {}", file.string(), key));
    }
  }
  // The programs of the machine that built bankcheck, or those of this one.
  const auto usable = [](std::string& program, const char* otherwise) {
    if (driver::find_program(program).empty()) program = otherwise;
    if (driver::find_program(program).empty()) {
      throw std::runtime_error(fmt::format("bankcheck emulate needs {}, and there is none on the PATH", otherwise));
    }
  };
  usable(toolchain.compiler, "g++");
  usable(toolchain.readelf, "readelf");
  toolchain.identity = identity_of(toolchain, file);
  return toolchain;
}

Toolchain find_toolchain() {
  const fs::path file = driver::find_next_to_bankcheck("emulate/toolchain.txt");
  if (file.empty()) {
    throw std::runtime_error(
        "there is no emulator next to bankcheck: bankcheck was built without it, or not with g++ on x86-64 Linux; "
        "please rebuild it, cmake prints why the emulator is off");
  }
  return read_toolchain(file);
}

fs::path find_in_toolkit(std::string_view name) {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH", ""}) {
    const char* toolkit = *variable == '\0' ? "/usr/local/cuda" : std::getenv(variable);
    if (toolkit == nullptr) continue;
    fs::path file = fs::path(toolkit) / name;
    std::error_code ignored;
    if (fs::exists(file, ignored)) return file;
  }
  return {};
}

fs::path find_nvcc() {
  fs::path nvcc = driver::find_program("nvcc");
  return nvcc.empty() ? find_in_toolkit("bin/nvcc") : nvcc;
}

std::vector<std::string> header_options(const Program& program, const std::vector<std::string>& further) {
  std::vector<std::string> options;
  for (const std::string& definition : program.definitions) options.push_back("-D" + definition);
  for (const std::string& folder : program.include) options.push_back("-I" + folder);
  for (const std::string& folder : further) options.push_back("-I" + folder);
  return options;
}

std::vector<fs::path> compile_cubins(const Program& program, const fs::path& nvcc, const fs::path& cache) {
  const driver::EndsWithSentence signals("compiling with nvcc");
  std::vector<fs::path> cubins;
  for (const std::string& source : program.sources) {
    if (language_of(source, program, find_toolchain()) == Language::kernels)
      cubins.push_back(compile_cubin(source, program, nvcc, cache));
  }
  return cubins;
}

}  // namespace bankwise::emulate
