// How far a checked program is: what watches it writes this into a file that bankcheck reads while the program runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace bankwise::support {

/// The contents of the file. Several processes may write it; each number is one that one of them wrote.
struct RunProgress {
  std::atomic<std::uint64_t> launches;      ///< launches that have begun
  std::atomic<std::uint64_t> groups, done;  ///< those of the launch that began last
  char kernel[104];                         ///< its name, cut at 103 characters
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(RunProgress) == 128);

/// The file, mapped; null if that fails.
RunProgress* map_progress(const char* path);

/// The file that the environment variable BANKWISE_PROGRESS names, mapped; null if there is none.
RunProgress* progress_of_environment();

/// A launch begins.
void begin_launch(RunProgress& progress, std::string_view kernel, std::uint64_t groups);

}  // namespace bankwise::support
