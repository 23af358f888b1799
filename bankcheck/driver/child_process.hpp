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

#include "bankcheck/driver/progress_line.hpp"

namespace bankwise::driver {

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
  long process = 0;                ///< its number
  int status = 0;                  ///< as waitpid() returns it
  bool out_of_time = false;        ///< it ran longer than its time limit
  bool interrupted = false;        ///< a signal to bankcheck was passed on to it
  std::vector<long> left_running;  ///< processes that it left in the background
};

/// What to do while a command runs.
struct Wait {
  bool own_stdout = true;                              ///< false: the command's stdout goes to stderr
  std::function<void(std::string_view)> watch_stderr;  ///< called with each piece of the command's stderr
  ProgressLine* progress = nullptr;                    ///< shown while the command runs
  double time_limit = 0;                               ///< in seconds; 0: none
};

/// The command as execv() and posix_spawn() take it. Its elements point into `command`.
std::vector<char*> argument_vector(const std::vector<std::string>& command);

/// Runs a command to its end; `program` is the file of its first word, from find_program(). Signals that would end
/// bankcheck go to the command. Error: std::runtime_error if it cannot be started.
Ended start_and_wait(const std::filesystem::path& program, const std::vector<std::string>& command, const Wait& wait);

/// Whether a signal ended the program that programs do not raise in a crash.
bool ended_from_outside(const Ended& ended);

/// Whether the program crashed, rather than ended itself or was ended by a signal from outside.
bool crashed(const Ended& ended);

/// A sentence if a signal ended the program.
std::optional<std::string> signal_that_ended(const std::string& program, const Ended& ended);

/// A sentence about a program that reached its time limit.
std::string out_of_time(const std::string& program, double seconds);

/// A sentence if the program left processes in the background.
std::optional<std::string> still_running(const std::string& program, const Ended& ended);

/// Whether a process has loaded a library, by the end of its path.
bool has_loaded(long process, std::string_view library);

}  // namespace bankwise::driver
