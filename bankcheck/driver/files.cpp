// SPDX-License-Identifier: MIT
#include "bankcheck/driver/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include <bankwise/support/text.hpp>

namespace bankwise::driver {
namespace {

namespace fs = std::filesystem;

/// TMPDIR, or /tmp if that is empty; an absolute path, because the program may change its directory.
fs::path temporary_folder() {
  const char* variable = std::getenv("TMPDIR");
  const std::string name = variable == nullptr || *variable == '\0' ? "/tmp" : variable;
  std::error_code error;
  fs::path folder = fs::canonical(name, error);
  if (error || !fs::is_directory(folder, error)) {
    throw std::runtime_error(fmt::format("cannot use {}, from TMPDIR, for temporary files", in_quotes(name)));
  }
  return folder;
}

}  // namespace

TemporaryFolder::TemporaryFolder() : TemporaryFolder(temporary_folder()) {}

TemporaryFolder::TemporaryFolder(const fs::path& parent) {
  std::string path = parent / "bankcheck.XXXXXX";
  if (mkdtemp(path.data()) == nullptr)
    throw std::runtime_error(fmt::format("cannot create {}: {}", path, std::strerror(errno)));
  path_ = path;
  guarded_.emplace(path);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path find_program(const std::string& name) {
  const auto runs = [](const fs::path& path) {
    std::error_code ignored;
    return access(path.c_str(), X_OK) == 0 && !fs::is_directory(path, ignored);
  };
  if (name.find('/') != std::string::npos) return runs(name) ? fs::path(name) : fs::path();
  const char* variable = std::getenv("PATH");
  std::string_view path = variable == nullptr ? "/usr/bin:/bin" : variable;
  while (!path.empty()) {
    const auto end = std::min(path.find(':'), path.size());
    const fs::path folder(path.substr(0, end));
    if (fs::path candidate = (folder.empty() ? "." : folder) / name; runs(candidate)) return candidate;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return {};
}

void check_program(const std::string& name) {
  errno = 0;
  if (!find_program(name).empty()) return;
  std::error_code ignored;
  const bool is_path = name.find('/') != std::string::npos;
  throw std::runtime_error(fmt::format("cannot run {}: {}", in_quotes(name),
                                       !is_path                          ? "there is no such program on the PATH"
                                       : fs::is_directory(name, ignored) ? "it is a directory"
                                                                         : std::strerror(errno)));
}

fs::path find_next_to_bankcheck(std::string_view name) {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& place : {folder, folder / ".." / BANKWISE_PLUGIN_DIRECTORY}) {
    if (fs::exists(place / name)) return fs::canonical(place / name);
  }
  return {};
}

}  // namespace bankwise::driver
