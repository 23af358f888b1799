#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace bankwise::gpu {

/// A place in our sources: std::source_location, which clang 15 lacks. As a default argument, here() is the caller's.
struct CallSite {
  const char* file;
  int line;
  static constexpr CallSite here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

/// A call of CUDA or OpenCL failed. what() holds the call, the API's own name for the error, the file and the line.
class Error : public std::runtime_error {
 public:
  Error(std::string_view call, std::string_view error, CallSite where);
};

/// A kernel's source does not compile. what() holds the compiler's log, which names the kernel's file and line.
class BuildError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// This device cannot do what was requested, though nothing failed: a limit, or a part that was not built.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// For destructors, which must not throw: writes one line to stderr.
void log_failure(std::string_view call, std::string_view error) noexcept;

}  // namespace bankwise::gpu
