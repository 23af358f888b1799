// The program that a checker watches, tools, the files that a command needs or makes, and the guard, which cleans up.
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

/// What it owns ends with it, once.
struct NotCopied {
  NotCopied() = default;
  NotCopied(const NotCopied&) = delete;
  NotCopied& operator=(const NotCopied&) = delete;
};

// The guard is a process that outlives bankcheck, whatever ends it, SIGKILL included. It then ends the programs that
// bankcheck runs, with all their children, and deletes its temporary folders.

/// Starts the guard, if there is none. To be called before there are threads.
void start_guard();

/// The guard's number, which is a child of bankcheck; 0 without one.
long guard_process();

/// What the guard takes care of for as long as the object lives: the number of a process, or the path of a folder.
class Guarded : NotCopied {
 public:
  explicit Guarded(std::string name);
  ~Guarded();

 private:
  std::string name_;
};

/// While the object lives, a signal that would end bankcheck ends it with a sentence and exit code 3, and the guard
/// ends the tools that bankcheck runs. One at a time may exist.
class EndsWithSentence : NotCopied {
 public:
  /// `activity`: "building the program".
  explicit EndsWithSentence(std::string_view activity);
  ~EndsWithSentence();
};

/// A new directory that the destructor deletes, or the guard if bankcheck is killed. Error: std::runtime_error if it
/// cannot be created.
class TemporaryFolder : NotCopied {
 public:
  TemporaryFolder();  ///< in TMPDIR, or in /tmp
  explicit TemporaryFolder(const std::filesystem::path& parent);
  ~TemporaryFolder();
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::optional<Guarded> guarded_;
};

/// Finds a command as a shell does; empty if there is none.
std::filesystem::path find_program(const std::string& name);

/// Error: std::runtime_error with the reason if a shell would not find the command.
void check_program(const std::string& name);

/// Error: std::runtime_error without /proc.
std::filesystem::path folder_of_bankcheck();

/// A file that is built next to bankcheck and installed in its library directory; empty if it is in neither.
/// Error: std::runtime_error without /proc.
std::filesystem::path find_next_to_bankcheck(std::string_view name);

/// Restores the variables of this process's environment, which it sets for a program.
class KeptEnvironment : NotCopied {
 public:
  KeptEnvironment();
  ~KeptEnvironment();

 private:
  std::vector<std::string> variables_;
};

/// How far a watched program is: the file that it writes, and the last line of a terminal.
class Progress : NotCopied {
 public:
  /// Creates the file, and names it to programs that start, if stderr is a terminal. Without it nothing is shown.
  /// `blocks`: the word for them.
  Progress(const std::filesystem::path& path, std::string blocks);
  ~Progress();

  /// One line; empty between launches. `left`: seconds of the time limit.
  std::string text(std::optional<double> left = {}) const;
  /// Updates the line, if it is half a second old. The cursor is at its beginning, so that output replaces it.
  void show(std::optional<double> left);
  void hide();

 private:
  support::RunProgress* progress_ = nullptr;
  std::string blocks_, shown_;
  bool is_shown_;  // stderr is a terminal
  std::chrono::steady_clock::time_point next_;
};

// --- Programs and how they end ---

/// Wait::hint for a program of which all blocks are watched; "" if it watches fewer already.
std::string hint_to_watch_less(std::uint64_t max_groups, std::string_view blocks);

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
  bool silent = false;                                 ///< the command reads nothing, and its output is dropped
  std::filesystem::path stdout_file{};                 ///< new, for the command's stdout; empty: as above
  std::filesystem::path directory{};                   ///< in which the command runs; empty: bankcheck's own
  std::function<void(std::string_view)> watch_stderr;  ///< called with each piece of the command's stderr
  Progress* progress = nullptr;                        ///< shown while the command runs
  double time_limit = 0;                               ///< in seconds; 0: none
  std::string hint;                                    ///< told once if the command runs long and stderr is no terminal
  double hint_after = 15;                              ///< in seconds
};

/// Runs a command to its end; `program` is the file of its first word, from find_program(). Signals that would end
/// bankcheck go to the command. Error: std::runtime_error if it cannot be started.
Ended start_and_wait(const std::filesystem::path& program, const std::vector<std::string>& command, const Wait& wait);

/// A pipe whose ends no program inherits.
struct Pipe : NotCopied {
  Pipe();
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

/// Runs a tool that reads nothing; what it leaves in the background goes on. Error: std::runtime_error if it cannot be
/// started.
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

}  // namespace bankwise::driver
