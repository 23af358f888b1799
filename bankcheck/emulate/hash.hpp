// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace bankwise::emulate {

/// A hash of texts, for names in a cache: equal texts in equal order have equal hashes.
class Hash {
 public:
  void add(std::string_view text);
  /// The content of a file; one that cannot be read counts as empty.
  void add_content(const std::filesystem::path& file);
  std::string text() const;  ///< 32 hexadecimal digits

 private:
  std::uint64_t low_ = 0xCBF29CE484222325, high_ = 0x84222325CBF29CE4;
};

}  // namespace bankwise::emulate
