// SPDX-License-Identifier: MIT
#include "bankwise/runner/output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "bankwise/runner/exit_code.hpp"

namespace bankwise {

OutputFile::OutputFile(std::string_view option, std::string path) : option_(option), path_(std::move(path)) {
  if (path_.empty() || path_ == "-") return;
  if (std::filesystem::is_directory(path_)) {
    throw UsageError(fmt::format("cannot write {} {}: it is a directory", option_, path_));
  }
  temporary_ = path_ + ".XXXXXX";
  const int file = mkstemp(temporary_.data());
  if (file < 0) {
    const std::string why = std::generic_category().message(errno);
    temporary_.clear();
    throw UsageError(fmt::format("cannot write {} {}: {}", option_, path_, why));
  }
  close(file);
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void OutputFile::write(std::string_view text) {
  if (path_.empty()) return;
  if (path_ == "-") {
    if (!(std::cout << text).flush()) throw std::runtime_error("cannot write to stdout");
    return;
  }
  std::ofstream file(temporary_, std::ios::binary);
  if (!(file << text).flush()) throw std::runtime_error(fmt::format("cannot write {} {}", option_, path_));
  file.close();
  namespace fs = std::filesystem;
  fs::permissions(temporary_, fs::perms(0644));  // mkstemp gave it to the owner alone
  fs::rename(temporary_, path_);
  temporary_.clear();
}

}  // namespace bankwise
