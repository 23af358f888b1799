#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace bankwise::support {

/// What one file may have at most: input is read whole.
inline constexpr std::uintmax_t largest_input = std::uintmax_t{1} << 30;

/// The bytes of a regular file or a pipe; nothing if it cannot be read, or has more than `largest`. Devices, which may
/// have no end, are not read.
std::optional<std::string> read_file(const std::filesystem::path& path, std::uintmax_t largest = largest_input);

/// The same for a file that the user names. Error: UsageError, "cannot read FILE: " and the reason.
std::string read_input(const std::filesystem::path& path, std::uintmax_t largest = largest_input);

/// A file that the user names, or "-" for stdin, to be read piece by piece: `file` is opened unless it is stdin. Error:
/// as read_input().
std::istream& open_input(const std::string& path, std::ifstream& file);

/// The folder for what can be made again: bankwise in XDG_CACHE_HOME or ~/.cache, otherwise one for temporary files. It
/// may not exist.
std::filesystem::path cache_folder();

/// A file that is written completely or not at all: write() fills a temporary file in the same folder and renames it. A
/// symbolic link stays a link; devices and pipes are written directly.
class OutputFile {
 public:
  /// `path` "-" is stdout; an empty one writes nowhere. Checks in advance whether write() can succeed, and changes
  /// nothing. Error: UsageError.
  OutputFile(std::string_view option, std::string path);

  explicit operator bool() const { return !path_.empty(); }
  /// Error: UsageError if this and the other are one file, of which only the last content would remain.
  void require_apart_from(const OutputFile& other) const;
  /// Error: std::runtime_error; the old content is then unchanged.
  void write(std::string_view text) const;

 private:
  std::string option_, path_;
};

}  // namespace bankwise::support
