// SPDX-License-Identifier: MIT
//
// Finds out when all launches that use a table have ended, without waiting for any of them.
//
// The library says when a thread has synchronized with a stream or a context, but not when that synchronization began:
// another thread may have launched in between. A thread's *second* synchronization with a stream began after its first
// ended, so it covers every launch that came before the first one's end.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <thread>

namespace bankwise::cuda {

/// Of one table. `Stream` is a handle, `Thread` the id of a host thread. Not thread-safe.
template <typename Stream, typename Thread = std::thread::id>
class IdleWatch {
 public:
  void launch_begins(Thread thread, Stream stream) {
    open_.insert(thread);
    synchronized_by_[stream].clear();
  }
  void launch_ends(Thread thread) { open_.erase(thread); }

  /// `thread` has synchronized with `stream`, or with the whole context.
  void synchronized(Thread thread, std::optional<Stream> stream) {
    open_.erase(thread);         // the end of a launch that failed may not be reported
    if (!open_.empty()) return;  // a launch that has begun may not be in its stream yet
    for (auto it = synchronized_by_.begin(); it != synchronized_by_.end();) {
      const bool covered = !stream || *stream == it->first;
      it = covered && !it->second.insert(thread).second ? synchronized_by_.erase(it) : std::next(it);
    }
  }

  bool idle() const { return open_.empty() && synchronized_by_.empty(); }
  void reset() {
    open_.clear();
    synchronized_by_.clear();
  }

 private:
  std::set<Thread> open_;                               // threads between the begin and the end of a launch
  std::map<Stream, std::set<Thread>> synchronized_by_;  // since the last launch in the stream
};

}  // namespace bankwise::cuda
