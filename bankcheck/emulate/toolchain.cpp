// SPDX-License-Identifier: MIT
#include "bankcheck/emulate/toolchain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "bankcheck/driver/child_process.hpp"
#include "bankcheck/emulate/hash.hpp"

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

/// Also of all headers that a program may see.
std::string identity_of(const Toolchain& toolchain, const fs::path& file) {
  Hash hash;
  add_file(hash, file);
  add_file(hash, driver::find_program(toolchain.compiler));
  add_file(hash, toolchain.script);
  for (const std::string& one : toolchain.link) {
    if (one.ends_with(".a") || one.ends_with(".so")) add_file(hash, one);
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

}  // namespace

Toolchain read_toolchain(const fs::path& file) {
  Toolchain toolchain;
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
    if (key == "compiler") {
      toolchain.compiler = value;
    } else if (key == "cmake") {
      toolchain.cmake = value;
    } else if (key == "readelf") {
      toolchain.readelf = value;
    } else if (key == "script") {
      toolchain.script = value;
    } else if (key == "compile") {
      toolchain.compile.push_back(value);
    } else if (key == "include") {
      toolchain.include.push_back(value);
    } else if (key == "link") {
      toolchain.link.push_back(value);
    } else if (key == "header") {
      toolchain.header = value;
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
  usable(toolchain.cmake, "cmake");
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

}  // namespace bankwise::emulate
