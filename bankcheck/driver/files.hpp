// SPDX-License-Identifier: MIT
//
// Programs, and the files that a command needs or makes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "bankcheck/driver/guard.hpp"

namespace bankwise::driver {

/// A new directory that the destructor deletes, or the guard if bankcheck is killed. Error: std::runtime_error if it
/// cannot be created.
class TemporaryFolder {
 public:
  TemporaryFolder();  ///< in TMPDIR, or in /tmp
  explicit TemporaryFolder(const std::filesystem::path& parent);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::optional<Guarded> guarded_;
};

/// Finds a command as a shell does; empty if there is none.
std::filesystem::path find_program(const std::string& name);

/// Error: std::runtime_error with the reason if a shell would not find the command.
void check_program(const std::string& name);

/// A file that is built next to bankcheck and installed in its library directory; empty if it is in neither.
std::filesystem::path find_next_to_bankcheck(std::string_view name);

}  // namespace bankwise::driver
