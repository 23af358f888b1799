// Writes to open files, and how the parts that bankcheck loads into a program write records. Needs only the C library.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>

namespace bankwise::support {

/// A file next to the records, of one byte: the error if something could not be written, on a full disk, for example.
/// It exists before the program runs, so that it needs no space then.
inline constexpr const char* lost_name = "lost";

/// Whether all of the text could be written; errno says why not.
inline bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(file, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    text.remove_prefix(std::size_t(wrote));
  }
  return true;
}

/// Writes all of the text, or notes the error in the file above.
inline void write_or_note(int file, const char* path, std::string_view text) {
  if (write_all(file, text)) return;
  const char error = char(errno), *const slash = std::strrchr(path, '/');
  char lost[PATH_MAX];
  if (slash == nullptr || std::size_t(slash - path) + 8 > sizeof lost) return;
  std::memcpy(lost, path, std::size_t(slash + 1 - path));
  std::memcpy(lost + (slash + 1 - path), lost_name, std::strlen(lost_name) + 1);
  const int note = open(lost, O_WRONLY | O_CLOEXEC);
  if (note < 0) return;
  (void)!pwrite(note, &error, 1, 0);
  close(note);
}

/// Appends to a file immediately, because a program may end at any moment, and with O_APPEND, because other processes
/// may append to the same file. Without the file nothing happens: bankcheck reports the missing record.
inline void append_to(const char* path, std::string_view text) {
  const int file = path == nullptr ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  write_or_note(file, path, text);
  close(file);
}

}  // namespace bankwise::support
