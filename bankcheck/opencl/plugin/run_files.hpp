// What bankcheck asks of the plugin, and the files that bankcheck reads during the run and after it.
#pragma once

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <bankwise/support/watch_request.hpp>
#include <bankwise/trace/codec.hpp>

namespace bankwise::opencl {

const support::OpenclRequest& request();

void append_to_record(const std::string& lines);

/// Adds an event (launch_log.hpp) to the launch log.
void note(const std::string& event, const std::string& text = "");

/// The writer of this process. A forked process gets its own writer.
trace::TraceWriter& writer();

/// Replaces what is saved of the launch that has not ended.
void save_unfinished(const trace::KernelTrace& launch, const std::string& source);
/// The launch has ended, and the record has it.
void forget_unfinished();

/// Counts launches, and selects those that the plugin records; all others run without being watched. Not thread-safe.
class WatchedLaunches {
 public:
  explicit WatchedLaunches(support::OpenclRequest request) : request_(std::move(request)) {}

  using Size = std::array<std::uint64_t, 3>;
  /// Whether to record the launch that begins now.
  bool next(const std::string& kernel, const Size& global, const Size& local) {
    const auto matches = [&](const std::string& glob) { return fnmatch(glob.c_str(), kernel.c_str(), 0) == 0; };
    const support::Lines& globs = request_.kernels;
    if (!globs.empty() && std::none_of(globs.begin(), globs.end(), matches)) return false;
    return request_.max_launches == 0 || launches_[{kernel, global, local}]++ < request_.max_launches;
  }

 private:
  support::OpenclRequest request_;
  std::map<std::tuple<std::string, Size, Size>, std::uint64_t> launches_;
};

}  // namespace bankwise::opencl
