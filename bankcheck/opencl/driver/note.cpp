// SPDX-License-Identifier: MIT
#include "bankcheck/opencl/driver/note.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bankcheck/opencl/plugin/append.hpp"

namespace {

/// Copied before main(), because the program may clear its environment.
char log_path[4096];

__attribute__((constructor)) void copy_path() {
  const char* path = std::getenv("BANKWISE_LAUNCHES");
  if (path != nullptr && std::strlen(path) < sizeof log_path) std::memcpy(log_path, path, std::strlen(path) + 1);
}

}  // namespace

void bankwise::opencl::note(const char* event, const char* text) {
  char line[512];
  const auto length = int(std::strcspn(text, "\n"));
  const int written = std::snprintf(line, 500, "%s %ld %.*s", event, long(getpid()), length, text);
  const auto end = std::size_t(written < 500 ? written : 499);
  line[end] = '\n';
  append_to(log_path[0] == '\0' ? nullptr : log_path, {line, end + 1});
}
