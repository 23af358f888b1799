// SPDX-License-Identifier: MIT
#include <bankwise/gpu/error.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

namespace bankwise::gpu {

Error::Error(std::string_view call, std::string_view error, CallSite where)
    : std::runtime_error(fmt::format("{}: {} ({}:{})", call, error,
                                     std::filesystem::path(where.file).filename().string(), where.line)) {}

void log_failure(std::string_view call, std::string_view error) noexcept {
  std::fprintf(stderr, "bankwise: %.*s: %.*s\n", int(call.size()), call.data(), int(error.size()), error.data());
}

}  // namespace bankwise::gpu
