#include <bankwise/support/files.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <bankwise/support/append.hpp>
#include <bankwise/support/exit_code.hpp>

namespace bankwise::support {
namespace {

namespace fs = std::filesystem;

std::string last_error() { return std::generic_category().message(errno); }

/// Writes a new file, which has no name before it is complete: nothing of it is left if the process is killed. Not all
/// file systems know files without names. False if any step fails.
bool write_new(const fs::path& name, mode_t mode, std::string_view text) {
  const fs::path folder = name.has_parent_path() ? name.parent_path() : ".";
  int descriptor = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  const bool is_nameless = descriptor >= 0;
  if (!is_nameless) descriptor = open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor < 0) return false;
  (void)fchmod(descriptor, mode);
  const bool written = support::write_all(descriptor, text);
  const std::string itself = fmt::format("/proc/self/fd/{}", descriptor);
  const bool named =
      written && (!is_nameless || linkat(AT_FDCWD, itself.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0);
  return close(descriptor) == 0 && named;
}

/// The mode of a new file: read and write for all, masked by the umask.
mode_t default_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return mode_t(0666) & ~mask;
}

/// The file that a chain of symbolic links names, which need not exist.
fs::path target_of(fs::path path) {
  std::error_code error;
  for (int links = 0; links < 40 && fs::is_symlink(path, error); ++links) {
    path = path.parent_path() / fs::read_symlink(path, error);  // an absolute target replaces the folder
  }
  const fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

}  // namespace

fs::path cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path folder = cache != nullptr && *cache == '/' ? fs::path(cache)
                          : home != nullptr && *home == '/'
                              ? fs::path(home) / ".cache"
                              : fs::temp_directory_path() / fmt::format("bankwise-{}", getuid());
  return folder / "bankwise";
}

std::optional<std::string> read_file(const fs::path& path, std::uintmax_t largest) {
  try {
    return read_input(path, largest);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

std::string read_input(const fs::path& path, std::uintmax_t largest) {
  const auto fail = [&](const std::string& why) {
    return UsageError(fmt::format("cannot read {}: {}", path.string(), why));
  };
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  if (error) throw fail(error.message());
  if (type == fs::file_type::directory) throw fail("it is a directory");
  if (type != fs::file_type::regular && type != fs::file_type::fifo) throw fail("it is neither a file nor a pipe");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw fail(last_error());
  std::string text, part(std::size_t{1} << 16, '\0');
  while (file.read(part.data(), std::streamsize(part.size())) || file.gcount() > 0) {
    text.append(part, 0, std::size_t(file.gcount()));
    if (text.size() > largest) throw fail(fmt::format("it has more than {} bytes", largest));
  }
  if (file.bad()) throw fail(last_error());
  return text;
}

std::istream& open_input(const std::string& path, std::ifstream& file) {
  if (path == "-") return std::cin;
  errno = 0;
  file.open(path, std::ios::binary);
  if (!file || (file.peek(), errno == EISDIR)) {
    throw UsageError(fmt::format("cannot read {}: {}", path, last_error()));
  }
  file.clear();
  return file;
}

OutputFile::OutputFile(std::string_view option, std::string path) : option_(option), path_(std::move(path)) {
  if (path_.empty() || path_ == "-") return;
  const auto fail = [&](const std::string& why) {
    return UsageError(fmt::format("cannot write {} {}: {}", option_, path_, why));
  };
  std::error_code error;
  path_ = target_of(path_).string();
  const bool exists = access(path_.c_str(), F_OK) == 0;
  if (!exists && errno != ENOENT) throw fail(last_error());
  if (fs::is_directory(path_, error)) throw fail("it is a directory");
  // A temporary file needs write access to the folder, too.
  const std::string folder = fs::path(path_).has_parent_path() ? fs::path(path_).parent_path().string() : ".";
  const bool needs_folder = !exists || fs::is_regular_file(path_, error);
  if ((exists && access(path_.c_str(), W_OK) != 0) || (needs_folder && access(folder.c_str(), W_OK | X_OK) != 0))
    throw fail(last_error());
}

void OutputFile::require_apart_from(const OutputFile& other) const {
  std::error_code ignored;
  const bool is_device = fs::exists(path_, ignored) && !fs::is_regular_file(path_, ignored);
  if (path_.empty() || path_ == "-" || path_ != other.path_ || is_device) return;
  throw UsageError(fmt::format("{} and {} name the same file {}", other.option_, option_, path_));
}

void OutputFile::write(std::string_view text) const {
  if (path_.empty()) return;
  const auto fail = [&] {
    return std::runtime_error(fmt::format("cannot write {} {}: {}", option_, path_, last_error()));
  };
  if (path_ == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) throw fail();
    return;
  }
  struct stat old {};
  const bool exists = stat(path_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    const int device = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (device < 0 || !support::write_all(device, text) || close(device) != 0) throw fail();
    return;
  }
  const std::string unique =
      fmt::format(".bankwise.{}.{}", getpid(), std::chrono::steady_clock::now().time_since_epoch().count());
  const fs::path temporary = fs::path(path_).parent_path() / unique;
  if (!write_new(temporary, exists ? old.st_mode : default_mode(), text) ||
      std::rename(temporary.c_str(), path_.c_str()) != 0) {
    const int why = errno;
    std::remove(temporary.c_str());
    errno = why;
    throw fail();
  }
}

}  // namespace bankwise::support
