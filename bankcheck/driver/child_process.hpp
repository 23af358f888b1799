// Runs the program that a checker watches.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bankwise/support/progress.hpp>

namespace bankwise::driver {

// How far a watched program is, for the last line of a terminal.

/// bankcheck's side of the file that a watched program writes.
class ProgressFile {
 public:
  /// Creates the file, and names it to programs that start, if stderr is a terminal. Without it nothing is shown.
  /// `blocks`: the word for them.
  ProgressFile(const std::filesystem::path& path, std::string blocks);
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;
  ~ProgressFile();

  /// One line; empty between launches.
  std::string text() const;

 private:
  RunProgress* progress_ = nullptr;
  std::string blocks_;
};

/// Shows on the last line of a terminal how far a program is. Nothing is shown if stderr is no terminal.
class ProgressLine {
 public:
  /// `text` is the line without a newline; empty if there is nothing to show.
  explicit ProgressLine(std::function<std::string()> text);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { hide(); }

  /// Updates the line, if it is half a second old. The cursor is at its beginning, so that output replaces it.
  void show();
  /// Removes the line.
  void hide();

 private:
  std::function<std::string()> text_;
  std::string shown_;
  std::chrono::steady_clock::time_point next_;
};

// Programs and how they end.

/// How a program ended.
struct Ended {
  std::string program;             ///< as the user called it
  double time_limit = 0;           ///< as Wait has it
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

/// Runs a command to its end; `program` is the file of its first word, from find_program(). Signals that would end
/// bankcheck go to the command. Error: std::runtime_error if it cannot be started.
Ended start_and_wait(const std::filesystem::path& program, const std::vector<std::string>& command, const Wait& wait);

/// A pipe whose ends no program inherits.
struct Pipe {
  Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe();
  void close_in();
  /// Everything that arrives until all copies of the other end are closed.
  std::string read_to_end() const;
  int out = -1, in = -1;
};

struct Ran {
  int status = 0;      ///< exit code; 128 and the signal's number if a signal ended it
  std::string output;  ///< stdout and stderr together
};

/// Runs a tool that reads nothing. Error: std::runtime_error if it cannot be started.
Ran run_quietly(const std::vector<std::string>& command);

/// Whether a signal ended the program that programs do not raise in a crash.
bool ended_from_outside(const Ended& ended);

/// Whether the program crashed, rather than ended itself or was ended by a signal from outside.
bool crashed(const Ended& ended);

/// A sentence if a signal ended the program.
std::optional<std::string> signal_that_ended(const Ended& ended);

/// A sentence if the program reached its time limit, was ended by a signal, or has another exit code than 0.
std::optional<std::string> failure_of(const Ended& ended);

/// "the program ./a failed with exit code 3".
std::string failed_with(const Ended& ended, int exit_code);

/// A sentence if the program left processes in the background.
std::optional<std::string> still_running(const Ended& ended);

/// Whether a process has loaded a library, by the end of its path.
bool has_loaded(long process, std::string_view library);

}  // namespace bankwise::driver
