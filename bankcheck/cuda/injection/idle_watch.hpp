// Finds out when all launches that use a table have ended, without waiting for any of them.
//
// The library says when a thread has synchronized with a stream or a context, but not when that synchronization began:
// another thread may have launched in between. So a synchronization covers what its thread launched. A thread's
// *second* synchronization with a stream began after its first ended, so it covers every launch that came before the
// first one's end.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <thread>

namespace bankwise::cuda {

/// For one table. `Stream` is a handle, `Thread` the id of a host thread. Not thread-safe.
template <typename Stream, typename Thread = std::thread::id>
class IdleWatch {
 public:
  void launch_begins(Thread thread, Stream stream) {
    open_.insert(thread);
    Busy& busy = busy_[stream];
    busy.launched_by.insert(thread);
    busy.synchronized_by.clear();
  }
  void launch_ends(Thread thread) { open_.erase(thread); }

  /// `thread` has synchronized with `stream`, or with the whole context.
  void synchronized(Thread thread, std::optional<Stream> stream) {
    open_.erase(thread);         // the end of a launch that failed may not be reported
    if (!open_.empty()) return;  // a launch that has begun may not be in its stream yet
    const std::set<Thread> only_this{thread};
    for (auto it = busy_.begin(); it != busy_.end();) {
      Busy& busy = it->second;
      const bool covered = !stream || *stream == it->first;
      const bool again = covered && !busy.synchronized_by.insert(thread).second;
      it = again || (covered && busy.launched_by == only_this) ? busy_.erase(it) : std::next(it);
    }
  }

  bool idle() const { return open_.empty() && busy_.empty(); }
  void reset() {
    open_.clear();
    busy_.clear();
  }

 private:
  struct Busy {
    std::set<Thread> launched_by, synchronized_by;  // the latter since the last launch
  };
  std::set<Thread> open_;  // threads between the begin and the end of a launch
  std::map<Stream, Busy> busy_;
};

}  // namespace bankwise::cuda
