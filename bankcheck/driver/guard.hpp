// SPDX-License-Identifier: MIT
//
// The guard is a process that outlives bankcheck, whatever ends it, SIGKILL included. It then ends the programs that
// bankcheck runs, with all their children, and deletes its temporary folders.
#pragma once

#include <string>
#include <string_view>

namespace bankwise::driver {

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

}  // namespace bankwise::driver
