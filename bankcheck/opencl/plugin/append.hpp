// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

namespace bankwise::opencl {

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
