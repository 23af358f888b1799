// SPDX-License-Identifier: MIT
#include <bankwise/emulator/runtime/digest.hpp>

#include <array>
#include <bit>
#include <cstring>

namespace bankwise::emulator::runtime {

Digest digest_of(const void* memory, std::size_t bytes) {
  constexpr std::array<std::uint64_t, 4> factors{0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                                                 0xD6E8FEB86659FD93};
  std::array<std::uint64_t, 4> sums{bytes, ~bytes, factors[2], factors[3]};
  const auto* at = static_cast<const std::byte*>(memory);
  const auto add = [&](const std::byte* from) {
    std::array<std::uint64_t, 4> words;
    std::memcpy(words.data(), from, sizeof words);
    // The rotation brings high bits down, where the next product spreads them.
    for (std::size_t i = 0; i < 4; ++i) sums[i] = std::rotl(sums[i] ^ words[i], 29) * factors[i];
  };
  for (; bytes >= 32; bytes -= 32, at += 32) add(at);
  if (bytes > 0) {
    std::array<std::byte, 32> rest{};
    std::memcpy(rest.data(), at, bytes);
    add(rest.data());
  }
  const auto mixed = [&](std::uint64_t a, std::uint64_t b) {
    a = (a ^ a >> 32) * factors[0];
    b = (b ^ b >> 29) * factors[1];
    a = (a ^ std::rotl(b, 23)) * factors[3];
    return a ^ a >> 31;
  };
  return {mixed(sums[0], sums[1]) + sums[2], mixed(sums[2], sums[3]) ^ sums[1]};
}

}  // namespace bankwise::emulator::runtime
