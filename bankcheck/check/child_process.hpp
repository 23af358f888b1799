// SPDX-License-Identifier: MIT
//
// Runs the program that a checker watches.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bankwise::opencl {

/// A directory that the destructor deletes. Error: std::runtime_error if it cannot be created.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Finds a command as a shell does; empty if there is none.
std::filesystem::path find_program(const std::string& name);

/// Error: std::runtime_error with the reason if a shell would not find the command.
void check_program(const std::string& name);

/// A file that is built next to bankcheck and installed in its library directory; empty if it is in neither.
std::filesystem::path find_next_to_bankcheck(std::string_view name);

struct Ended {
  long process = 0;  ///< its number
  int status = 0;    ///< as waitpid() returns it
};

/// Runs a command to its end; `program` is the file of its first word, from find_program(). Signals that would end
/// bankcheck go to the command. Without `own_stdout`, its stdout goes to stderr. `watch_stderr` is called with each
/// piece of its stderr. Error: std::runtime_error if it cannot be started.
Ended start_and_wait(const std::filesystem::path& program, const std::vector<std::string>& command, bool own_stdout,
                     const std::function<void(std::string_view)>& watch_stderr = nullptr);

/// Whether the program crashed, rather than ended itself or was ended by a signal from outside.
bool crashed(const Ended& ended);

/// A sentence if a signal ended the program.
std::optional<std::string> signal_that_ended(const std::string& program, const Ended& ended);

}  // namespace bankwise::opencl
