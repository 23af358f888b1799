// SPDX-License-Identifier: MIT
//
// The launch log: a file next to the trace in which the plugin and the preloaded library note what happens during a
// run, and which bankcheck reads after it. Each line is "<event> <process> <text>".
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

namespace bankwise::opencl {

namespace event {
inline constexpr const char* begin = "begin";    ///< a launch of the kernel <text> begins
inline constexpr const char* end = "end";        ///< it has ended, and the trace has it
inline constexpr const char* cut = "short";      ///< Oclgrind ended it without "3 of the 4 work-groups of scan"
inline constexpr const char* exit = "exit";      ///< the process calls exit(<text>), or returns from main()
inline constexpr const char* unable = "unable";  ///< why Oclgrind cannot create or run a kernel
}  // namespace event

/// Appends to a file immediately, because a program may end at any moment, and with O_APPEND, because other processes
/// may append to the same file. Without the file nothing happens: bankcheck reports the missing record.
inline void append_to(const char* path, std::string_view text) {
  const int file = path == nullptr ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(file, text.data() + done, text.size() - done);
    if (wrote <= 0) break;
    done += std::size_t(wrote);
  }
  close(file);
}

}  // namespace bankwise::opencl
