// SPDX-License-Identifier: MIT
#include "bankcheck/emulate/hash.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace bankwise::emulate {

void Hash::add(std::string_view text) {
  // FNV-1a, twice with different primes.
  const auto byte = [&](unsigned char c) {
    low_ = (low_ ^ c) * 0x100000001B3;
    high_ = (high_ ^ c) * 0x9E3779B97F4A7C15;
    high_ ^= high_ >> 29;
  };
  for (const char c : text) byte(static_cast<unsigned char>(c));
  for (std::size_t size = text.size(), i = 0; i < 8; ++i) byte(static_cast<unsigned char>(size >> 8 * i));
}

void Hash::add_content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  add(std::string(std::istreambuf_iterator<char>(stream), {}));
}

std::string Hash::text() const {
  return fmt::format("{:016x}{:016x}", high_, low_);
}

}  // namespace bankwise::emulate
