// Internal to common/bankwise/emulator: objects in a log of words.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace bankwise::emulator {

template <class Object>
constexpr std::size_t words_of = sizeof(Object) / sizeof(std::uint32_t);

template <class Object>
void append_words(std::vector<std::uint32_t>& log, const Object& object) {
  const auto words = std::bit_cast<std::array<std::uint32_t, words_of<Object>>>(object);
  log.insert(log.end(), words.begin(), words.end());
}

template <class Object>
Object from_words(const std::uint32_t* words) {
  std::array<std::uint32_t, words_of<Object>> copy{};
  std::copy_n(words, copy.size(), copy.begin());
  return std::bit_cast<Object>(copy);
}

}  // namespace bankwise::emulator
