// Programs, the files that a command needs or makes, and the guard, which cleans both up.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace bankwise::driver {

// The guard is a process that outlives bankcheck, whatever ends it, SIGKILL included. It then ends the programs that
// bankcheck runs, with all their children, and deletes its temporary folders.

/// Starts the guard, if there is none. To be called before there are threads.
void start_guard();

/// The guard's number, which is a child of bankcheck; 0 without one.
long guard_process();

/// What the guard takes care of for as long as the object lives: the number of a process, or the path of a folder.
class Guarded {
 public:
  explicit Guarded(std::string name);
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded();

 private:
  std::string name_;
};

/// While the object lives, a signal that would end bankcheck ends it with a sentence and exit code 3, and the guard
/// ends the tools that bankcheck runs. One at a time may exist.
class EndsWithSentence {
 public:
  /// `activity`: "building the program".
  explicit EndsWithSentence(std::string_view activity);
  EndsWithSentence(const EndsWithSentence&) = delete;
  EndsWithSentence& operator=(const EndsWithSentence&) = delete;
  ~EndsWithSentence();
};

/// A new directory that the destructor deletes, or the guard if bankcheck is killed. Error: std::runtime_error if it
/// cannot be created.
class TemporaryFolder {
 public:
  TemporaryFolder();  ///< in TMPDIR, or in /tmp
  explicit TemporaryFolder(const std::filesystem::path& parent);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
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

/// A file that is built next to bankcheck and installed in its library directory; empty if it is in neither.
std::filesystem::path find_next_to_bankcheck(std::string_view name);

}  // namespace bankwise::driver
