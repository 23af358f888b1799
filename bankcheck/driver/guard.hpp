// SPDX-License-Identifier: MIT
//
// The guard is a process that outlives bankcheck, whatever ends it, SIGKILL included. It then ends the programs that
// bankcheck runs, with all their children, and deletes its temporary folders.
#pragma once

#include <string>

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

}  // namespace bankwise::driver
