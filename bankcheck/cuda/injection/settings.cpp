// SPDX-License-Identifier: MIT
#include "bankcheck/cuda/injection/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace bankwise::cuda {
namespace {

std::string required(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') throw std::runtime_error(std::string(name) + " is not set");
  return value;
}

void read_number(const char* name, std::uint64_t& number) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return;
  const char* end = text + std::strlen(text);
  if (const auto [stop, error] = std::from_chars(text, end, number); stop != end || error != std::errc()) {
    throw std::runtime_error(std::string(name) + " is not a number: " + text);
  }
}

}  // namespace

Settings read_settings() {
  Settings settings;
  settings.folder = required("BANKWISE_CUDA_RECORDS");
  settings.library = required("BANKWISE_SANITIZER_LIBRARY");
  if (const char* globs = std::getenv("BANKWISE_CUDA_KERNELS")) {
    std::istringstream lines(globs);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) settings.kernel_globs.push_back(line);
    }
  }
  read_number("BANKWISE_CUDA_MAX_GROUPS", settings.max_blocks);
  read_number("BANKWISE_CUDA_MAX_LAUNCHES", settings.max_launches);
  read_number("BANKWISE_CUDA_TABLE_BYTES", settings.table_bytes);
  return settings;
}

}  // namespace bankwise::cuda
